"""Lists of articles: what orders them, how far back they go, and their pages."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from articles.domain.articles import Article

GROUPS_PER_LIST = 10
"""Groups that one list shows together: each is one more ranking to merge, in every shard."""

MOST_PAGED = 10_000
"""Articles of a list that can be paged through by number. Groups, the search, members' pages and the sitemap lead
to what lies deeper."""


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
class PageRefresh:
    """What became of an open page: its articles in its order, removed ones included, and how many came later."""

    articles: tuple[Article, ...]
    new: int = 0
    has_more_new: bool = False
    """Whether there are more new ones than were counted."""
