"""Lists of articles: their orders, periods and pages, and which groups they leave out for whom."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from articles.domain import ranking
from articles.domain.articles import Article, ArticleId
from articles.domain.comments import Comment

GROUPS_PER_LIST = 10  # groups that one list shows together: each is one more ranking to merge, in every shard

MOST_PAGED = 10_000
"""Articles of a list that can be paged through by number. Older ones are reached through groups, search, members'
pages and the sitemap."""


MOST_FOLLOWED_PAGED = 250
"""Articles of followed groups that can be paged through: a page reads all before it, of every group."""


Position: TypeAlias = tuple[float, str]
"""The position of an entry in a list by time: its time in Unix seconds, and its text in the list."""


class Order(StrEnum):
    """The order of a list."""

    SCORE = "score"
    TIME = "time"
    HOT = "hot"
    POINTS = "points"
    ACTIVE = "active"


BY_VOTES = (Order.SCORE, Order.POINTS)
"""Orders that votes change, which the formula `values_by_votes` of the scripts has."""


class Period(StrEnum):
    """How far back a list goes, by the posting times of its articles."""

    DAY = "day"
    THREE_DAYS = "three-days"
    WEEK = "week"
    MONTH = "month"
    ALL = "all"

    def since(self, now: float) -> float | None:
        """Return when the period begins, in Unix seconds; None if it has no beginning. A month is 30 days."""
        days = {Period.DAY: 1, Period.THREE_DAYS: 3, Period.WEEK: 7, Period.MONTH: 30}.get(self)
        return None if days is None else now - days * 86400


HOT_PERIODS: Mapping[str, Period] = {
    "24h": Period.DAY,
    "72h": Period.THREE_DAYS,
    "7d": Period.WEEK,
    "all": Period.ALL,
}
"""Periods of the hot list, by the words of addresses and of the API."""

TOP_PERIODS: Mapping[str, Period] = {
    period.value: period for period in (Period.DAY, Period.WEEK, Period.MONTH, Period.ALL)
}
"""Periods of the lists by points, by the words of addresses and of the API."""

SPANS = tuple(period for period in TOP_PERIODS.values() if period.since(0) is not None)
"""Those of them that have a beginning."""


PERIODS: Mapping[Order, Mapping[str, Period]] = {Order.HOT: HOT_PERIODS, Order.POINTS: TOP_PERIODS}
"""Orders whose list of the whole site can be limited to a period."""

PAGES: Mapping[Order, str] = {
    Order.SCORE: "front",
    Order.TIME: "newest",
    Order.HOT: "hot",
    Order.ACTIVE: "active",
    Order.POINTS: "top",
}
"""Names of the whole site's lists: of their pages' addresses, of their views, and of their feeds."""


def value_of(article: Article, order: Order) -> float:
    """Return the value that places an article in a list of this order; the highest comes first."""
    match order:
        case Order.HOT:
            return article.hotness or 0.0
        case Order.TIME:
            return article.posted_at
        case Order.POINTS:
            return ranking.by_points(article.posted_at, article.ranked_points)
        case Order.ACTIVE:
            return ranking.activity(article.last_comment_at or 0.0, is_locked=article.locked is not None)
        case Order.SCORE:
            return article.score


@dataclass(frozen=True, slots=True)
class Group:
    """A named set of articles. `articles` counts the listed ones."""

    slug: str
    title: str
    articles: int = 0
    description: str = ""  # in Markdown; read only for a list of this group, and for the index of groups

    @property
    def sort_key(self) -> tuple[int, str]:
        """Order in a list of groups: the largest first, then by title."""
        return -self.articles, self.title.casefold()


@dataclass(frozen=True, slots=True)
class ArticlePage:
    """One page of a list: at most `per_page` articles of `total`, without hidden ones.

    `total` and `pages` are upper limits if hosts or words are hidden, or if several groups, or what is hidden,
    have more than `MOST_PAGED`; not on the last page.
    """

    articles: tuple[Article, ...]
    number: int
    per_page: int
    total: int
    order: Order
    group: Group | None = None
    refreshed_at: float | None = None
    """Moment of the hot list's last rescore, in Unix seconds; None for other lists."""

    groups: tuple[Group, ...] = ()  # the groups, ordered by slug, if the list combines several
    shown: int | None = None
    """Number of articles shown to the reader before, if the page continues from a page token and not by number."""

    goes_on: bool | None = None  # whether more articles follow; None if `total` decides that
    ids: tuple[ArticleId, ...] = ()  # the ids of the page's entries, even if an article was removed meanwhile
    last: Position | None = None
    """Position of the last of them, by the value that orders the list; None for an empty page."""

    hidden: int = 0
    """Number of articles that were left out, between this page and the next, because the reader hides them."""

    @property
    def is_of_groups(self) -> bool:
        """Whether it lists only the articles of one group, or of several."""
        return self.group is not None or bool(self.groups)

    @property
    def is_front(self) -> bool:
        """Whether it is the site's first page: the whole site by score."""
        return self.order is Order.SCORE and self.number == 1 and not self.is_of_groups

    @property
    def pages(self) -> int:
        """Number of pages that can be requested by number; an empty list has one."""
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
    """One page of the articles a member posted, voted for, opposed or saved, newest first."""

    articles: tuple[Article, ...]
    number: int
    has_next: bool
    last: Position | None = None
    """Position of the last entry, even if its article was removed; None for an empty page."""

    removed: tuple[Article, ...] = ()  # those of the page that are removed, for their poster

    @property
    def points(self) -> int:
        """Points that others gave the articles of the page: each article's first vote is the poster's own."""
        return sum(article.points - 1 for article in self.articles)


class SearchOrder(StrEnum):
    """How results of a search are ordered."""

    RELEVANCE = "relevance"
    SCORE = "score"
    TIME = "time"
    POINTS = "points"


CHANGES_KEPT = 20_000  # changed articles and comments of a shard that the store names for search indexes


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One page of search results."""

    articles: tuple[Article, ...]
    number: int
    per_page: int
    has_next: bool
    order: SearchOrder
    titles: Mapping[str, str]  # titles of all groups by slug
    total: int  # number of matching articles
    complete: bool  # False while the search index is being built
    ids: tuple[ArticleId, ...] = ()  # the ids of the page's results, even if an article was removed meanwhile
    hidden: int = 0
    """Number of results that were left out, between this page and the next, because the reader hides them."""

    @property
    def first_rank(self) -> int:
        """Rank of the page's first article, counted from 1."""
        return (self.number - 1) * self.per_page + 1


@dataclass(frozen=True, slots=True)
class CommentSearchPage:
    """One page of comments found by a search."""

    comments: tuple[Comment, ...]
    number: int
    has_next: bool
    titles: Mapping[str, str]  # titles of all groups by slug
    total: int  # number of matching comments
    complete: bool  # False while the search index is being built
    last: Position | None = None
    """Position of the last result, even if it was removed meanwhile; None for an empty page."""

    hidden: int = 0  # as `SearchPage.hidden`


@dataclass(frozen=True, slots=True)
class PageRefresh:
    """The update of an open page: its articles in current order, removed ones included, and how many are new."""

    articles: tuple[Article, ...]
    new: int = 0
    has_more_new: bool = False  # whether there are more new articles than were counted


EVERYONE: Final = "everyone"
MEMBERS: Final = "members"  # who sees a group

_closed: ContextVar[frozenset[str]] = ContextVar("closed_groups", default=frozenset())


def closed_groups() -> frozenset[str]:
    """Return the slugs of the groups for members only that the reader of the current request does not get to see.

    The repository returns none of their articles, and answers as if these groups did not exist.
    """
    return _closed.get()


@contextmanager
def without_groups(slugs: Collection[str]) -> Iterator[None]:
    """Let no article of these groups be read."""
    token = _closed.set(frozenset(slugs))
    try:
        yield
    finally:
        _closed.reset(token)


def admit_reader() -> None:
    """Let the rest of the request read everything: its token or its key is a member's."""
    _closed.set(frozenset())
