"""Notices: the entries of an inbox, about replies, mentions, actions on the member's content, and flags."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, NamedTuple

from articles.domain.articles import ArticleId
from articles.domain.comments import Comment, CommentId, root_of
from articles.domain.flags import FlagState
from articles.domain.lists import Position
from articles.domain.members import UserId
from articles.domain.moderation_log import Action, LogEntry, action_from

NOTICES_KEPT = 1_000  # notices that a member's inbox keeps in one shard: the newest
EXCERPT_CHARACTERS = 280  # characters of a comment's text that a notice shows, without its Markdown

DELETED_NOTED = 100
"""Comments of an article, the last ones that their authors deleted, of which notices still say who wrote them."""

MOST_MENTIONED = 10  # members that one text can notify by mentioning them, with all edits together

UNDO_SECONDS = 60
"""Time in which a mention that is taken back takes its notice back, unless the member has read the inbox since."""


class NoticeKind(StrEnum):
    """What a notice that this version knows is about: see `NoticePointer.kind`."""

    REPLY = "reply"  # a comment on the member's article, or a reply to the member's comment
    MENTION = "mention"  # the member's name, after `@`, in a comment or in the text of an article
    MODERATION = "moderation"  # a moderator's action on the member's article or comment
    FLAG = "flag"  # a decision on the member's flag
    SUGGESTION = "suggestion"  # a suggestion of another title or other groups for the member's article


Decision = Literal[FlagState.REMOVED, FlagState.KEPT]

DECISIONS: Mapping[str, Decision] = {"flag-removed": FlagState.REMOVED, "flag-kept": FlagState.KEPT}
"""Words of notices about flags."""


class NoticePointer(NamedTuple):
    """What an inbox keeps of a notice: what it points to, and its time in Unix seconds."""

    word: str
    """`reply`, `mention`, `suggestion`, a word of `DECISIONS` or an action of the moderation log; or a word that
    this version does not know."""

    subject: CommentId  # the comment, or the root of an article
    at: float

    @property
    def kind(self) -> str:
        """The `NoticeKind`, or the word if this version does not know it."""
        if self.word in DECISIONS:
            return NoticeKind.FLAG
        return NoticeKind.MODERATION if isinstance(action_from(self.word), Action) else self.word

    @property
    def text(self) -> str:
        """The notice as an inbox keeps it."""
        return f"{self.word}:{self.subject}"


class DeletedComment(NamedTuple):
    """What those whom a comment notified still know of it after its author deleted it."""

    author: UserId
    parent: CommentId | None  # the comment that it replied to; None at top level
    author_name: str = ""  # "" before it is looked up, and if the account is deleted


@dataclass(frozen=True, slots=True)
class Notice:
    """A notice, with what it points to in its current state."""

    kind: str
    at: float  # in Unix seconds; the newest of several actions of the same kind on the same article or comment
    article: ArticleId
    title: str
    poster_name: str  # name of the article's poster; "" if the account is deleted
    is_article_removed: bool
    comment_id: CommentId | None  # the comment that it is about; None if it is about the article
    comment: Comment | None  # that comment; None if there is none, or if it no longer exists
    entry: LogEntry | None = None
    """The moderator's action, as the moderation log has it; None if it is no longer in the log."""

    decision: Decision | None = None  # the decision on the member's flag; None for other notices
    is_locked: bool = False  # whether the article's discussion is locked
    reason: str = ""
    """The reason for the decision; "" if moderators gave none, or if what they removed is restored."""

    deleted: DeletedComment | None = None  # the comment, if its author deleted it and was noted

    @property
    def is_known(self) -> bool:
        """Whether this version knows what it is about: see `NoticePointer.kind`."""
        return self.kind in set(NoticeKind)

    @property
    def subject(self) -> CommentId:
        """What it is about: the comment, or the root of the article."""
        return self.comment_id or root_of(self.article)

    @property
    def author_name(self) -> str:
        """Name of who wrote the comment or the article; "" if it is not known, or if the account is deleted."""
        if self.comment_id is None:
            return self.poster_name
        author = self.deleted or self.comment
        return author.author_name if author else ""

    @property
    def answers_comment(self) -> bool | None:
        """Whether the comment replies to another one; None if that is not known."""
        comment = self.deleted or self.comment
        return None if comment is None else comment.parent is not None

    @property
    def is_readable(self) -> bool:
        """Whether the comment, if it is about one, can still be read where it was posted."""
        if self.is_article_removed:
            return False
        return self.comment_id is None or (self.comment is not None and self.comment.is_shown)

    @property
    def takes_reply(self) -> bool:
        """Whether the member can reply to the comment that it is about."""
        is_answerable = self.kind in (NoticeKind.REPLY, NoticeKind.MENTION) and self.comment is not None
        return is_answerable and self.is_readable and not self.is_locked

    @property
    def html(self) -> str:
        """The comment's text as HTML; "" without a comment that can be read."""
        return self.comment.html if self.comment and self.is_readable else ""


@dataclass(frozen=True, slots=True)
class InboxPage:
    """One page of an inbox, newest first."""

    notices: tuple[Notice, ...]
    number: int
    has_next: bool
    last: Position | None = None  # position of the last notice; None for an empty page
