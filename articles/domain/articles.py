"""Articles, the choices members make on them, and their counts."""

from dataclasses import KW_ONLY, dataclass, field, fields
from enum import StrEnum
from typing import NamedTuple

from articles.domain.errors import ArticleMerged, ArticleRemoved, DiscussionLocked
from articles.domain.members import DELETED_MEMBER, UserId

ArticleId = int

LATEST = 253_402_300_800
"""The beginning of the year 10000, in Unix seconds: calendars end before it, so no article is posted then."""

WITHDRAWN = "withdrawn by the poster"
"""Reason for the removal of an article that its poster withdrew: in the store, in the log and in the API."""


class Choice(StrEnum):
    """A member's choice on an article."""

    VOTE = "vote"
    OPPOSE = "oppose"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Tally:
    """An article's counts after a member's choice."""

    votes: int
    opposes: int
    choice: Choice
    ring_accounts: int = 0  # new accounts of the voting ring that this choice completed; 0 if it completed none

    @property
    def points(self) -> int:
        return self.votes - self.opposes


@dataclass(frozen=True, slots=True)
class VotingRing:
    """Many new accounts of one network that chose on an article or its comments within a short time.

    Moderators have not checked it.

    Times in Unix seconds.
    """

    accounts: int  # the highest number of new accounts of one network, since the last check
    first_at: float
    last_at: float
    comment: int | None = None
    """Id of the comment that one of them chose on last; None if they chose on no comment."""


class LeftOut(NamedTuple):
    """How many of the votes and opposes of an article, or of a comment, are left out of ranking."""

    votes: int = 0
    opposes: int = 0


NONE_LEFT_OUT = LeftOut()


def ranked_points(votes: int, opposes: int, left_out: LeftOut) -> int:
    """Return all points but those of left-out choices; formulas.lua has the same."""
    return votes - opposes - left_out.votes + left_out.opposes


def shown_poster(user: UserId, name: str) -> tuple[UserId, UserId | None]:
    """Return the poster or author that readers may compare, and the number of a deleted account, for moderators.

    For some time, what a deleted account posted keeps its number, without a name: for everyone but moderators it
    belongs to DELETED_MEMBER at once.
    """
    return (DELETED_MEMBER, user) if user > 0 and not name else (user, None)


@dataclass(frozen=True, slots=True)
class Content:
    """What members write in an article.

    Posting, edits, imports, copies and reads go through these fields, which have the same names in the hash.
    """

    title: str
    link: str  # "" for an article that has only a text
    _: KW_ONLY
    text: str = ""  # as Markdown; lists of articles do not read it

    @property
    def written(self) -> dict[str, str]:
        """The fields of the content, by name."""
        return {name: getattr(self, name) for name in CONTENT}


CONTENT = tuple(field.name for field in fields(Content))
LISTED = tuple(name for name in CONTENT if name != "text")
"""Fields of the content that lists read. The store has them even if they are empty."""


@dataclass(frozen=True, slots=True)
class Article(Content):
    """A posted title with a link, a text, or both. `posted_at` and `closes_at` in Unix seconds."""

    id: ArticleId
    poster: UserId
    poster_name: str
    posted_at: float
    votes: int
    opposes: int
    score: float
    closes_at: float
    groups: tuple[str, ...] = ()
    removed: str | None = None
    """Reason for its removal, WITHDRAWN if its poster withdrew it; None while it is listed."""

    merged_into: ArticleId | None = None
    """The article into which moderators merged it; then it is in no list, but its comments are shown there."""

    merged: tuple[ArticleId, ...] = ()  # articles that moderators merged into it
    left_out: LeftOut = NONE_LEFT_OUT  # those of its votes and opposes that do not affect its rank
    choice: Choice = Choice.NONE  # the reader's own choice
    saved: bool = False  # whether the reader saved it for later
    pv: int = 0  # counted page views
    uv: int = 0  # unique visitors, estimated
    edited_at: float | None = None  # when the title, link or text was last changed, in Unix seconds; None if never
    is_logged: bool = False  # whether the moderation log has entries about it
    comments: int = 0  # comments shown below it, without removed and deleted ones
    last_comment_at: float | None = None  # when the last of these was posted, in Unix seconds; None without one
    locked: str | None = None  # reason why its discussion is locked; None if it is open
    ring: VotingRing | None = None  # the voting ring that moderators should check; only they may see it
    hotness: float | None = None  # its value in the hot list; None in other lists
    text_bytes: int = 0  # size of its text in UTF-8; 0 without one
    html: str = ""  # its text as safe HTML, which only what shows it reads
    read_at: float | None = field(default=None, compare=False)
    """When the reader last opened its page or its link, in Unix seconds; None if never, or too long ago."""

    new_comments: int = field(default=0, compare=False)
    """Comments since the reader last opened its page: how many more there are, at least one if one was posted."""
    extras: tuple[tuple[str, str], ...] = ()
    """What the store keeps for extras, by field, read with `html`: see `Rows.article_fields`."""

    ballots: int = 0  # version of its ballot record, read with `html`; 0 without one that is up to date
    former: UserId | None = None
    """Number of the deleted account that posted it, while that is kept. Only moderators may see it."""

    def __hash__(self) -> int:
        """Hash only what differs between articles, and between two states of one: kept pages look up many."""
        return hash((self.id, self.votes, self.opposes, self.pv, self.comments))

    @property
    def is_withdrawn(self) -> bool:
        """Whether its poster withdrew it."""
        return self.removed == WITHDRAWN

    @property
    def is_withheld(self) -> bool:
        """Whether readers see neither its link and text nor its comments."""
        return self.removed is not None and self.merged_into is None

    def check_listed(self) -> None:
        """Raise ArticleMerged or ArticleRemoved unless it is in the lists."""
        self.check_unmerged()
        if self.removed is not None:
            raise ArticleRemoved(self.id)

    def check_unmerged(self) -> None:
        """Raise ArticleMerged if it was merged into another one: what concerns both concerns that one."""
        if self.merged_into is not None:
            raise ArticleMerged(self.id)

    def check_open(self) -> None:
        """Raise ArticleMerged, ArticleRemoved or DiscussionLocked unless comments can be written on it."""
        self.check_listed()
        if self.locked is not None:
            raise DiscussionLocked(self.id)

    @property
    def points(self) -> int:
        return self.votes - self.opposes

    @property
    def ranked_points(self) -> int:
        """Points that rank it, without choices that are left out of ranking."""
        return ranked_points(self.votes, self.opposes, self.left_out)

    @property
    def by_deleted_member(self) -> bool:
        """Whether its poster's account is deleted, so that no name is shown."""
        return self.poster == DELETED_MEMBER

    def is_open(self, now: float) -> bool:
        """Return whether it accepts votes at `now`: up to and including `closes_at`, to the millisecond."""
        return self.removed is None and round(now * 1000) <= round(self.closes_at * 1000)

    def may_be_edited_by(self, user: UserId | None, now: float, edit_window: float) -> bool:
        """Return whether this member may edit it as its poster, for `edit_window` seconds after posting."""
        in_time = round(now * 1000) <= round((self.posted_at + edit_window) * 1000)
        return user is not None and user == self.poster and self.removed is None and in_time


@dataclass(frozen=True, slots=True)
class Posted:
    """Outcome of posting: the article's id, and whether the article is new."""

    id: ArticleId
    is_new: bool


EARLIEST = 631_152_000  # 1990-01-01, before the first web page: nothing imported is older
AHEAD = 86_400  # seconds by which the clock or time zone of another site may be ahead
MOST_IMPORTED_GROUPS = 20  # groups of one imported article
MOST_OPEN_VOTES = 5_000
"""While an article is open, each of its votes is a member of a set. One script adds them all with the article, and
blocks the store meanwhile."""


class ImportedVote(NamedTuple):
    """A member's vote on an imported article or comment. `at` in Unix seconds."""

    user: UserId
    choice: Choice
    at: float


@dataclass(frozen=True, slots=True)
class ImportedArticle(Content):
    """An article with its history, as read from an import file."""

    poster: UserId
    poster_name: str
    posted_at: float
    votes: int
    opposes: int
    groups: tuple[str, ...] = ()
    removed: str | None = None
    closes_at: float | None = None
    """When voting ends, in Unix seconds; None for posting time plus this site's voting window."""

    locked: str | None = None  # reason why its discussion is locked; None if it is open
    comment_numbers: int = 0
    """Highest number of its comments, which are imported after it: members' comments get higher ones."""

    edited_at: float | None = None  # in Unix seconds; None if never
    voters: tuple[ImportedVote, ...] = ()
    """Votes by members, one each, which the counts include. A poster who is not among them votes for it."""
