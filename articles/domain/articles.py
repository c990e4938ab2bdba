"""What the site talks about: articles, choices, lists. Standard library only, nothing mutable."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

ArticleId = int
UserId = int

UNKNOWN_POSTER: UserId = 0
"""Poster of an imported article whose source names none."""

DELETED_MEMBER: UserId = -1
"""Poster of an article whose poster's account is deleted."""

DELETED_NAME = "~"
"""Stands in the moderation log for a member whose account is deleted. No member's name is like it."""

MOST_PAGED = 10_000
"""Articles of a list that can be paged through by number. Groups, the search, members' pages and the sitemap lead
to what lies deeper."""

PLACEHOLDERS = range(1_000_000_000, 2_000_000_000)
"""User ids that stand for the unnamed voters of imported articles. No account ever gets one."""


class Choice(StrEnum):
    """One user's choice on one article."""

    VOTE = "vote"
    OPPOSE = "oppose"
    NONE = "none"


class Order(StrEnum):
    """What a list is ordered by."""

    SCORE = "score"
    TIME = "time"
    HOT = "hot"
    POINTS = "points"


class Range(StrEnum):
    """How far back a hot list goes, by when its articles were posted."""

    DAY = "24h"
    THREE_DAYS = "72h"
    WEEK = "7d"
    ALL = "all"

    def since(self, now: float) -> float | None:
        """Unix seconds where it begins; None if it never does."""
        hours = {"24h": 24, "72h": 72, "7d": 7 * 24}.get(self.value)
        return None if hours is None else now - hours * 3600


class Span(StrEnum):
    """How far back a list of the most points goes, by when its articles were posted."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    ALL = "all"

    def since(self, now: float) -> float | None:
        """Unix seconds where it begins; None if it never does. A month is 30 days."""
        days = {"day": 1, "week": 7, "month": 30}.get(self.value)
        return None if days is None else now - days * 86400


class Suspicion(StrEnum):
    """Why a view counts apart and ranks nothing."""

    BOT = "bot"
    PREFETCH = "prefetch"
    BURST = "burst"


REPEAT = "repeat"
"""Why a view does not count although nothing is wrong with it: its visitor's last one was just now."""


@dataclass(frozen=True, slots=True)
class Rules:
    """The site's constants. Times in seconds."""

    voting_window: float = 7 * 86400
    """Of articles posted from now on. Each keeps the one it was posted with: see `Article.closes_at`."""

    votes_per_day: int | None = None
    """Votes that are worth a day on the front page; None where the site learns that from its own articles."""

    per_page: int = 25
    repost_window: int = 48 * 3600
    edit_window: float = 15 * 60
    voters_grace: int = 2 * 86400
    """How long voter sets outlive the voting window: longer than any clock is wrong."""

    max_groups_by_poster: int = 5

    max_saved: int = 2000
    """Articles a member can save."""

    view_repeat: int = 600
    """How soon a visitor's next view of an article counts."""

    views_per_network_and_article: int = 30
    views_per_network: int = 300
    network_window: int = 600
    """In which a network's views are limited; more of them are suspect."""

    hot_refresh: int = 60
    """How old the hot list's scores may become."""

    hot_size: int = 1000
    archive_after: float = 90 * 86400
    """How long after its last view an article's counters leave the store."""


@dataclass(frozen=True, slots=True)
class Tally:
    """An article's counts after a user's choice."""

    votes: int
    opposes: int
    choice: Choice

    @property
    def points(self) -> int:
        return self.votes - self.opposes


@dataclass(frozen=True, slots=True)
class Article:
    """A posted title and link. `posted_at` and `closes_at` in Unix seconds."""

    id: ArticleId
    title: str
    link: str
    poster: UserId
    poster_name: str
    posted_at: float
    votes: int
    opposes: int
    score: float
    closes_at: float
    groups: tuple[str, ...] = ()
    removed: str | None = None
    """The reason of its removal; None while it is listed."""

    choice: Choice = Choice.NONE
    """The reader's own."""

    saved: bool = False
    """Whether the reader saved it for later."""

    pv: int = 0
    """Page views that count."""

    uv: int = 0
    """Unique visitors, estimated."""

    edited_at: float | None = None
    """When title or link were last changed, in Unix seconds; None if they never were."""

    is_logged: bool = False
    """Whether the moderation log says something about it."""

    hotness: float | None = None
    """What the hot list ranks it by; only in hot lists."""

    @property
    def points(self) -> int:
        return self.votes - self.opposes

    @property
    def by_deleted_member(self) -> bool:
        """Whether its poster's account is deleted: nobody's name stands at it."""
        return self.poster == DELETED_MEMBER

    def is_open(self, now: float) -> bool:
        """Whether votes still count at `now`: up to and including `closes_at`, to the millisecond."""
        return self.removed is None and round(now * 1000) <= round(self.closes_at * 1000)

    def may_be_edited_by(self, user: UserId | None, now: float, edit_window: float) -> bool:
        """Whether this member may still edit it as its poster: for `edit_window` seconds after posting."""
        in_time = round(now * 1000) <= round((self.posted_at + edit_window) * 1000)
        return user is not None and user == self.poster and self.removed is None and in_time


@dataclass(frozen=True, slots=True)
class Group:
    """A named set of articles. `articles` counts the listed ones."""

    slug: str
    title: str
    articles: int = 0

    @property
    def sort_key(self) -> tuple[int, str]:
        """Order of a list of groups: the largest first, then by title."""
        return -self.articles, self.title.casefold()


@dataclass(frozen=True, slots=True)
class ArticlePage:
    """One page of a list: at most `per_page` articles of `total`.

    `total` and `pages` are upper limits where the list is of several groups or leaves hidden ones out.
    """

    articles: tuple[Article, ...]
    number: int
    per_page: int
    total: int
    order: Order
    group: Group | None = None
    refreshed_at: float | None = None
    """Unix seconds for which a hot list was scored; None for other lists."""

    groups: tuple[Group, ...] = ()
    """The groups of a list of several, in the order of their slugs."""

    shown: int | None = None
    """How many articles the reader was shown before, where the page goes on from them and not by its number."""

    goes_on: bool | None = None
    """Whether more articles follow, where `total` does not tell."""

    @property
    def pages(self) -> int:
        """How many pages there are to be called by number; an empty list has one."""
        return max(1, -(-min(self.total, MOST_PAGED) // self.per_page))

    @property
    def first_rank(self) -> int:
        """Rank of the page's first article, counted from 1."""
        return ((self.number - 1) * self.per_page if self.shown is None else self.shown) + 1

    @property
    def has_next(self) -> bool:
        return self.number < self.pages if self.goes_on is None else self.goes_on


@dataclass(frozen=True, slots=True)
class MemberPage:
    """One page of what a member posted, chose or saved, newest first."""

    articles: tuple[Article, ...]
    number: int
    has_next: bool


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One page of what a search found."""

    articles: tuple[Article, ...]
    number: int
    per_page: int
    has_next: bool
    order: Order
    titles: Mapping[str, str]
    """Of all groups, by slug."""

    total: int | None
    """How many there are on all pages; None where there are too many to count in time."""

    complete: bool
    """False where there may be more, or better ones, than could be looked at in time."""

    @property
    def first_rank(self) -> int:
        """Rank of the page's first article, counted from 1."""
        return (self.number - 1) * self.per_page + 1


@dataclass(frozen=True, slots=True)
class Pulse:
    """What became of an open page: its articles in its order, removed ones included, and how many came later."""

    articles: tuple[Article, ...]
    new: int = 0
    has_more_new: bool = False
    """Whether there are more new ones than were counted."""


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


@dataclass(frozen=True, slots=True)
class Posted:
    """Outcome of posting: the article's id, and whether it is new or was there already."""

    id: ArticleId
    is_new: bool


@dataclass(frozen=True, slots=True)
class Visit:
    """Who asks for an article: digests of 16 hex digits. A network that is empty is not limited."""

    visitor: str
    network: str = ""
    suspicion: Suspicion | None = None


@dataclass(frozen=True, slots=True)
class ViewCount:
    """What became of a view, and the article's numbers after it. `reason` is None if it counted."""

    reason: str | None
    pv: int
    uv: int
    hotness: float

    @property
    def counted(self) -> bool:
        return self.reason is None


@dataclass(frozen=True, slots=True)
class DayViews:
    """Views of one day (UTC): those that count, visitors who had not come before, suspect ones by reason."""

    day: date
    counted: int = 0
    visitors: int = 0
    suspects: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImportedArticle:
    """An article with its history, as an import brings it."""

    title: str
    link: str
    poster: UserId
    poster_name: str
    posted_at: float
    votes: int
    opposes: int
    groups: tuple[str, ...] = ()
    removed: str | None = None
    closes_at: float | None = None
    """When voting ends, in Unix seconds; None for the end of this site's voting window."""
