"""Comments, the threads they form, and their order."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import sqrt

from articles.domain.articles import NONE_LEFT_OUT, ArticleId, Choice, ImportedArticle, ImportedVote, LeftOut
from articles.domain.errors import CommentNotFound
from articles.domain.members import DELETED_MEMBER, UserId

CommentId = int  # article id · COMMENTS_PER_ARTICLE + number of the comment in its article, from 1
COMMENTS_PER_ARTICLE = 1_000_000  # exclusive upper limit of a comment's number in its article

DEEPEST_SHOWN = 8  # depth of the deepest comments that a thread shows; the top comments of a thread have depth 0
EDIT_SECONDS = 15 * 60  # time after posting in which an edit leaves no mark
COMMENTS_PER_PAGE = 200  # comments that one page of a thread shows
COMMENTS_PER_MEMBER_PAGE = 25  # comments of a member that one page reads: removed ones make the page shorter
LEAST_IN_FEED = 30  # comments of a feed, however old they are
MOST_IN_FEED = 500  # comments of a feed, however new they are
QUANTILE = 1.281551565545  # quantile of the normal distribution that a two-sided confidence of 80 % needs


def article_of(comment_id: CommentId) -> ArticleId:
    """Return the id of the article that a comment belongs to."""
    return comment_id // COMMENTS_PER_ARTICLE


def root_of(article_id: ArticleId) -> CommentId:
    """Return the parent of an article's top-level comments. No comment has this id."""
    return article_id * COMMENTS_PER_ARTICLE


def is_root(comment_id: CommentId) -> bool:
    """Return whether this is the root of an article, and no comment."""
    return comment_id % COMMENTS_PER_ARTICLE == 0


def not_root(comment_id: CommentId) -> CommentId:
    """Return the id of a comment. Raises CommentNotFound for one that stands for an article."""
    if is_root(comment_id):
        raise CommentNotFound(comment_id)
    return comment_id


def lower_bound(votes: int, opposes: int) -> float:
    """Return the lower bound of the Wilson score interval at 80 %: the order of the best comments, 0 to 1.

    Without votes it is 0. The formula is the usual one, multiplied by its conjugate: it subtracts nothing, so that
    its error is at most three units in the last place. lua/lib/formulas.lua has the same formula.
    """
    if votes == 0:
        return 0.0
    count, square = votes + opposes, QUANTILE * QUANTILE
    spread = QUANTILE * sqrt(votes * opposes / count + square / 4)
    return votes * votes / (count * (votes + square / 2 + spread))


class CommentOrder(StrEnum):
    """The order of comments with the same parent."""

    BEST = "best"
    NEWEST = "newest"
    OLDEST = "oldest"


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment on an article. Times in Unix seconds."""

    id: CommentId
    article: ArticleId
    parent: CommentId | None  # the comment it replies to; None at top level
    author: UserId
    author_name: str
    text: str
    """Markdown, as typed; "" if deleted. That of a removed comment is here as well: only moderators may see it."""

    posted_at: float
    votes: int
    opposes: int
    closes_at: float  # when voting on it ends
    edited_at: float | None = None  # when it was last changed more than EDIT_SECONDS after posting; None if never
    removed: str | None = None  # reason for its removal by a moderator; None if it is not removed
    is_deleted: bool = False  # whether its author deleted it; it remains as a stub while it has replies
    is_logged: bool = False  # whether the moderation log has entries about it
    left_out: LeftOut = NONE_LEFT_OUT
    """Its votes by members whose votes moderators left out of ranking: they do not affect its place."""

    choice: Choice = Choice.NONE  # the reader's own choice
    depth: int = 0  # levels below the top comments of the thread that it was read with
    replies: int = 0  # direct replies, removed ones and stubs included
    html: str = ""  # its text as safe HTML, which only what shows it reads
    former: UserId | None = None
    """Number of the deleted account that wrote it, while that is kept. Only moderators may see it."""

    @property
    def points(self) -> int:
        return self.votes - self.opposes

    @property
    def is_shown(self) -> bool:
        """Whether readers see its text: it is neither removed nor deleted."""
        return self.removed is None and not self.is_deleted

    @property
    def by_deleted_member(self) -> bool:
        """Whether its author's account is deleted, so that no name is shown."""
        return self.author == DELETED_MEMBER and not self.is_deleted

    def is_open(self, now: float) -> bool:
        """Return whether it accepts votes at `now`: up to and including `closes_at`, to the millisecond."""
        return self.is_shown and round(now * 1000) <= round(self.closes_at * 1000)

    def may_be_edited_by(self, user: UserId | None) -> bool:
        """Return whether this member may edit it, unless its discussion is locked."""
        return user is not None and user == self.author and self.is_shown


@dataclass(frozen=True, slots=True)
class CommentPlace:
    """The place of an imported comment in its thread. Times in Unix seconds."""

    number: int  # its number in its article, from 1
    posted_at: float
    parent: "CommentPlace | None" = None  # the place of the comment it replies to; None at top level
    closes_at: float | None = None  # when voting on it ends; None for posting time plus this site's voting window
    is_stub: bool = False  # whether it was deleted; a stub is entered with its first reply


@dataclass(frozen=True, slots=True)
class ImportedComment:
    """A comment with its history, as read from an import file."""

    article: ImportedArticle
    place: CommentPlace
    author: UserId
    author_name: str
    text: str
    votes: int = 0
    opposes: int = 0
    edited_at: float | None = None  # in Unix seconds; None if never
    removed: str | None = None
    voters: tuple[ImportedVote, ...] = ()  # votes by members, one each, which the counts include


class CommentEntry(StrEnum):
    """The outcome of importing a comment."""

    ENTERED = "ok"
    PRESENT = "exists"
    PASSED = "passed"  # an earlier import had it, and it is not here: it was deleted, or that import rejected it
    TAKEN = "taken"  # another comment of the article has its number
    ORPHAN = "orphan"  # the comment that it replies to is not here
    NO_ARTICLE = "missing"


@dataclass(frozen=True, slots=True)
class ThreadPart:
    """Which comments of a thread are read: those after its direct reply number `start`, at most `size` in all.

    If those shown before are given as `passed`, it is the best of all others instead: none is repeated or left
    out, although votes change the order meanwhile. With an order by time, the last one shown can be given instead,
    as `after`. A long comment counts once more for each KB of its HTML.
    """

    start: int = 0
    size: int = COMMENTS_PER_PAGE
    passed: tuple[CommentId, ...] = ()
    after: tuple[float, CommentId] | None = None  # its time, in Unix seconds, and its id


FIRST_PART = ThreadPart()


@dataclass(frozen=True, slots=True)
class Thread:
    """A part of an article's discussion: comments, each followed by its replies."""

    comments: tuple[Comment, ...]  # in preorder; removed comments and stubs keep their places
    total: int  # comments of the whole article, without removed ones and stubs
    order: CommentOrder
    start: int = 0  # number of direct replies to the thread's parent that come before this part
    next_start: int | None = None  # `start` of the next part; None if this is the last
    passed: tuple[CommentId, ...] = ()
    """The direct replies to the thread's parent that this part has; () if it is the last."""

    cut: Mapping[CommentId, int] = field(default_factory=dict)
    """Direct replies that are not shown here, by the comment they reply to; only those that lack some."""

    locked: str | None = None  # reason why the discussion is locked; None if it is open
    ancestors: tuple[CommentId, ...] = ()
    """For a branch: the nearest few comments above its first one, outermost first."""
