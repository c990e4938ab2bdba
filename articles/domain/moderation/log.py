"""Moderation: actions, and the entries of the public log that records them."""

from dataclasses import dataclass, field
from enum import StrEnum

from articles.domain.articles import ArticleId
from articles.domain.members import UserId


class Action(StrEnum):
    """A kind of entry in the moderation log."""

    GROUPS = "groups"
    EDIT = "edit"
    REMOVE = "remove"
    WITHDRAW = "withdraw"
    RESTORE = "restore"
    CREATE_GROUP = "create-group"
    RENAME_GROUP = "rename-group"
    DESCRIBE_GROUP = "describe-group"
    MERGE_GROUPS = "merge-groups"
    TUNE = "tune-ranking"
    REMOVE_COMMENT = "remove-comment"
    RESTORE_COMMENT = "restore-comment"
    LOCK = "lock"
    UNLOCK = "unlock"
    BAN = "ban"
    LIFT_BAN = "lift-ban"
    LEAVE_OUT_VOTES = "leave-out-votes"
    COUNT_VOTES = "count-votes"
    BLOCK_HOST = "block-host"
    UNBLOCK_HOST = "unblock-host"
    DECLINE_SIGN_UP = "decline-sign-up"
    DELETE_NOTE = "delete-note"
    CHECK_VOTES = "check-votes"


@dataclass(frozen=True, slots=True)
class Actor:
    """The moderator of an action: the user id, and the name that the log shows."""

    id: UserId
    name: str


OPERATOR = Actor(0, "")
"""The operator, who changes the configuration and has no account here."""

SITE = Actor(0, "*")
"""The site itself, where the operator lets it act. No member can have this name."""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One entry of the public moderation log. `at` in Unix seconds; `article_id` is 0 for actions on groups.

    `actor_name` is DELETED_NAME if the moderator's account is deleted.
    """

    action: Action
    at: float
    actor_name: str
    article_id: ArticleId
    title: str
    reason: str = ""
    details: dict[str, str] = field(default_factory=dict)
    """The changes: `added` and `removed` groups, `old_title`, `old_link`, `into`; the id of a `comment` …"""


@dataclass(frozen=True, slots=True)
class LogPage:
    """One page of the moderation log, newest first."""

    entries: tuple[LogEntry, ...]
    number: int
    has_next: bool
    rest: tuple[int, ...] = ()
    """Numbers of entries that follow, which stay the same while entries are added; () if they are not known."""
