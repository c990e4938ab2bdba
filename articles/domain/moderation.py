"""What moderators do, as the public log records it."""

from dataclasses import dataclass, field
from enum import StrEnum

from articles.domain.articles import ArticleId
from articles.domain.members import UserId


class Action(StrEnum):
    """What the moderation log records."""

    GROUPS = "groups"
    EDIT = "edit"
    REMOVE = "remove"
    RESTORE = "restore"
    CREATE_GROUP = "create-group"
    RENAME_GROUP = "rename-group"
    MERGE_GROUPS = "merge-groups"
    TUNE = "tune-ranking"


@dataclass(frozen=True, slots=True)
class Actor:
    """Who moderates: the user id and the name the log shows."""

    id: UserId
    name: str


OPERATOR = Actor(0, "")
"""Whoever changed the configuration: nobody with an account."""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One line of the public moderation log. `at` in Unix seconds; `article_id` 0 for whole groups.

    `actor_name` is DELETED_NAME where the account of whoever did it is deleted.
    """

    action: Action
    at: float
    actor_name: str
    article_id: ArticleId
    title: str
    reason: str = ""
    details: dict[str, str] = field(default_factory=dict)
    """What changed: `added` and `removed` groups, `old_title`, `old_link`, `into` …"""


@dataclass(frozen=True, slots=True)
class LogPage:
    """One page of the moderation log, newest first."""

    entries: tuple[LogEntry, ...]
    number: int
    has_next: bool
