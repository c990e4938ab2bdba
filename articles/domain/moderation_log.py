"""Moderation: actions, and the entries of the public log that records them."""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal, NamedTuple

from articles.domain.articles import ArticleId
from articles.domain.members import UserId


class Action(StrEnum):
    """A kind of entry in the moderation log that this version writes or knows: see `action_from`."""

    GROUPS = "groups"
    EDIT = "edit"
    APPLY_SUGGESTION = "apply-suggestion"
    REMOVE = "remove"
    WITHDRAW = "withdraw"
    RESTORE = "restore"
    MERGE = "merge"
    UNMERGE = "unmerge"
    CREATE_GROUP = "create-group"
    RENAME_GROUP = "rename-group"
    DESCRIBE_GROUP = "describe-group"
    SHOW_GROUP = "show-group"
    MERGE_GROUPS = "merge-groups"
    TUNE = "tune-ranking"
    REMOVE_COMMENT = "remove-comment"
    RESTORE_COMMENT = "restore-comment"
    LOCK = "lock"
    UNLOCK = "unlock"
    BAN = "ban"
    LIFT_BAN = "lift-ban"
    ACT_ON_BRANCH = "act-on-branch"  # of versions up to 0.5.0; the log is for good
    LEAVE_OUT_VOTES = "leave-out-votes"
    COUNT_VOTES = "count-votes"
    BLOCK_HOST = "block-host"
    UNBLOCK_HOST = "unblock-host"
    DECLINE_SIGN_UP = "decline-sign-up"
    RESET_SECOND_FACTOR = "reset-second-factor"
    SEND_CLAIM = "send-claim"
    DELETE_NOTE = "delete-note"
    CHECK_VOTES = "check-ring"
    REDACT = "redact"
    REMOVE_ABOUT = "remove-about"
    CHANGE_RULE = "change-rule"
    CHANGE_SETTING = "change-setting"
    CHANGE_SITE_TEXT = "change-site-text"
    CHANGE_PERMISSIONS = "change-permissions"


_ACTIONS, _WORD = {one.value: one for one in Action}, re.compile("[a-z-]{1,40}")


def action_from(word: str) -> str:
    """Return the `Action` of a word, or the word itself if this version does not know it. Raises ValueError.

    The log is for good: another version may have written it, or an extra that was deleted.
    """
    if not _WORD.fullmatch(word):
        raise ValueError(f"{word[:40]!r} is no action")
    return _ACTIONS.get(word, word)


_ABOUT_MEMBERS = ("ban", "branch", "votes", "about", "permissions")
"""Ends of the words of actions on members, as in `names_member` of `repository/lua/lib/moderation_log.lua`."""

STATED = (Action.REMOVE, Action.REMOVE_COMMENT, Action.LOCK)
"""Actions on what members posted that have a statement of reasons."""

REVERSING = (Action.RESTORE, Action.RESTORE_COMMENT, Action.UNLOCK)  # actions that take these back

REDACTED = "[redacted]"
"""What replaces a text that moderators or the operator redacted, in the store and in the API."""


class Redactable(NamedTuple):
    """A text that can be redacted, in the log or in something that is removed."""

    part: Literal["title", "link", "text", "reason"]
    text: str


@dataclass(frozen=True, slots=True)
class Actor:
    """The moderator of an action: the user id, and the name that the log shows."""

    id: UserId
    name: str
    groups: tuple[str, ...] = ()
    """Slugs of the groups as whose moderator the member acts; none for an act for the whole site."""

    @property
    def signature(self) -> str:
        """The name and, after a line feed, the groups: what scripts log of the actor."""
        return f"{self.name}\n{','.join(self.groups)}" if self.groups else self.name


OPERATOR = Actor(0, "")  # the operator, who changes the configuration and has no account here

SITE = Actor(0, "*")  # the site itself, where the operator lets it act; no member can have this name


def rule_actor(name: str) -> Actor:
    """Return a rule of the moderators as an actor. No member can have this name, nor another rule."""
    return Actor(0, f"*{name}")


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One entry of the public moderation log. `at` in Unix seconds; `article_id` is 0 for actions on groups.

    `actor_name` is DELETED_NAME if the moderator's account is deleted.
    """

    action: str
    at: float
    actor_name: str
    article_id: ArticleId
    title: str
    reason: str = ""
    details: dict[str, str] = field(default_factory=dict)
    """The changes: `added` and `removed` groups, `old_title`, `old_link`, `into`; the id of a `comment` …

    `capacity`: the groups as whose moderator the actor acted; missing for an act for the whole site.
    """

    def slugs(self, name: str) -> list[str]:
        """Return the groups of a detail, such as `added`."""
        return [slug for slug in str(self.details.get(name, "")).split(",") if slug]

    @property
    def is_known(self) -> bool:
        """Whether this version knows what it says: see `action_from`."""
        return isinstance(self.action, Action)

    @property
    def rule(self) -> str:
        """Name of the rule that did it; "" if a moderator did, the operator or the site."""
        return self.actor_name[1:] if self.actor_name.startswith("*") else ""

    @property
    def names_member(self) -> bool:
        """Whether its title is the name of a member, which goes with the account."""
        return not self.article_id and self.details.get("about", self.action).endswith(_ABOUT_MEMBERS)


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Which entries of the log a reader wants; what is empty admits all. Names differ from others in any case."""

    action: Action | None = None
    actor: str = ""
    member: str = ""  # whom an entry is about: the member, or who posted the article or the comment
    group: str = ""  # slug of a group that an entry is about, or that the article is in now

    def __bool__(self) -> bool:
        return self != LogFilter()

    def may_admit(self, entry: LogEntry) -> bool:
        """Return whether the entry is of this action and actor; `admits` also looks at what it is about."""
        by = self.actor.casefold()
        return self.action in (None, entry.action) and by in ("", entry.actor_name.casefold())

    def admits(self, entry: LogEntry, author: str, groups: Collection[str]) -> bool:
        """Return whether a reader wants the entry. `author`, `groups`: of the article or the comment, if any."""
        about = entry.title if entry.names_member else author
        named = {slug for name in ("slug", "into", "added", "removed", "capacity") for slug in entry.slugs(name)}
        return (
            self.may_admit(entry)
            and self.member.casefold() in ("", about.casefold())
            and (not self.group or self.group in named or self.group in groups)
        )


@dataclass(frozen=True, slots=True)
class LogPage:
    """One page of the moderation log, newest first."""

    entries: tuple[LogEntry, ...]
    number: int
    has_next: bool
    rest: tuple[int, ...] = ()
    """Numbers of entries that follow, which stay the same while entries are added; () if they are not known."""

    searched_to: float = 0  # time of the oldest entry that a filter has looked at, in Unix seconds
