"""Explanations of an article's rank: its ranks, and the terms of the formulas in `ranking` that lead to them."""

from dataclasses import dataclass
from enum import StrEnum
from math import ceil, log2
from typing import NamedTuple

from articles.domain import ranking
from articles.domain.articles import NONE_LEFT_OUT, ArticleId, LeftOut, ranked_points
from articles.domain.ranking import Parameters

DECAY_HOURS = 72  # hours for which the decay of hotness is shown
BASE_OF_PRIOR = 14  # what raises the relevance of every search result
_NOISE = 1e-6  # rounding error, in seconds, of sums of the same parts; posting times differ by at least 0.001


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The article next to another one in a list. `value` is its score or hotness; `apart` is the difference.

    `worth`: how many votes, or on the hot list how many views by new visitors, make up for the difference.
    """

    id: ArticleId
    title: str
    value: float
    apart: float
    worth: int


@dataclass(frozen=True, slots=True)
class Place:
    """A rank, counted from 1, in a list of `of` articles, with the neighbours above and below."""

    rank: int
    of: int
    above: Neighbour | None = None
    below: Neighbour | None = None


@dataclass(frozen=True, slots=True)
class GroupPlace:
    """A rank, counted from 1, in a group's list by score, of `of` articles."""

    slug: str
    title: str
    rank: int
    of: int


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """The terms of an article's score on the front page. Times in Unix seconds."""

    posted_at: float
    votes: int
    opposes: int
    seconds_per_point: float
    left_out: LeftOut = NONE_LEFT_OUT
    waiting: int = 0  # how many of these wait until their members are no longer new

    @property
    def points(self) -> int:
        """Points that rank it, without choices that are left out of ranking."""
        return ranked_points(self.votes, self.opposes, self.left_out)

    @property
    def left_out_choices(self) -> int:
        """Votes and opposes that are left out of ranking, together."""
        return sum(self.left_out)

    @property
    def pushed(self) -> float:
        """Seconds by which the points move it; negative with negative points."""
        return self.seconds_per_point * self.points

    @property
    def value(self) -> float:
        """The score, exactly as in the ranking."""
        return self.with_more(0)

    def with_more(self, votes: int) -> float:
        """Return the score it would have with `votes` more votes."""
        return ranking.score(self.posted_at, self.points + votes, seconds_per_point=self.seconds_per_point)

    def worth(self, apart: float) -> int:
        """Return how many votes make up for a difference in score, in seconds."""
        return max(0, ceil((apart - _NOISE) / self.seconds_per_point))


@dataclass(frozen=True, slots=True)
class HotnessParts:
    """The terms of an article's hotness at the last rescore of the hot list. Times in Unix seconds."""

    pv: int
    uv: int
    posted_at: float
    refreshed_at: float
    parameters: Parameters

    @property
    def hours(self) -> float:
        """Age at the last rescore, in hours."""
        return ranking.hours_between(self.posted_at, self.refreshed_at)

    @property
    def readers(self) -> float:
        """The numerator: page views and visitors, multiplied by α and β."""
        return self.parameters.alpha * self.pv + self.parameters.beta * self.uv

    @property
    def denominator(self) -> float:
        """The denominator, which grows with age."""
        return float((self.hours + self.parameters.base) ** self.parameters.gamma)

    @property
    def value(self) -> float:
        """The hotness, as in the ranking."""
        return self.after(0)

    def after(self, hours: float) -> float:
        """Return its hotness `hours` later, without further views."""
        age = ranking.hours_between(self.posted_at, self.refreshed_at + 3600 * hours)
        return ranking.hotness(self.pv, self.uv, age, self.parameters)

    def worth(self, apart: float) -> int:
        """Return how many more views, each by a new visitor, make up for a difference in hotness."""
        per_view = (self.parameters.alpha + self.parameters.beta) / self.denominator
        return max(0, ceil(round(apart / per_view, 6)))


@dataclass(frozen=True, slots=True)
class NextVote:
    """The effect of one more vote: `seconds` added to the score, and the resulting rank."""

    seconds: float
    rank: int
    gained: int  # places gained


class Sample(NamedTuple):
    """An article's ranks at `at`, in Unix seconds. A rank is None if the article was not among the first."""

    at: float
    rank: int | None
    points: int
    hot_rank: int | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of a listed article's rank, read at one moment. Times in Unix seconds."""

    article_id: ArticleId
    score: ScoreParts
    front: Place
    groups: tuple[GroupPlace, ...]
    hotness: HotnessParts
    hot: Place | None  # none if it is not on the hot list
    next_vote: NextVote | None  # none if voting is closed
    closes_at: float
    history: tuple[Sample, ...]  # oldest first


class Where(StrEnum):
    """Where a term of a search matches. `NAMES`: the link's host, or the poster; `FILTER`: such as `author:`."""

    TITLE = "title"
    TEXT = "text"
    NAMES = "names"
    GROUP = "group"
    FILTER = "filter"


class How(StrEnum):
    """How a term of a search matches: the word itself, another form of it, or a word that begins so.

    `FORM` is a match of the stem: the word itself has it as well.
    """

    EXACT = "exact"
    FORM = "form"
    BEGINNING = "beginning"


class Match(NamedTuple):
    """A match of a term of a search, and what it counts."""

    term: str
    where: Where
    how: How
    value: float


class Unfound(StrEnum):
    """Why a search does not show an article. `BEHIND`: the index does not contain it as it is yet."""

    NO_MATCH = "no-match"
    BEHIND = "behind"
    BUILDING = "building"


@dataclass(frozen=True, slots=True)
class Relevance:
    """The terms of a result's relevance. `matched`: the sum of the matches; `points`: ranked points."""

    matches: tuple[Match, ...]
    matched: float
    points: int
    of_points: int
    of_age: int

    @property
    def prior(self) -> int:
        return BASE_OF_PRIOR + self.of_points + self.of_age

    @property
    def factor(self) -> float:
        """By how much points and age raise the relevance."""
        return log2(2 + self.prior)

    @property
    def value(self) -> float:
        """The relevance, as results are ordered by it."""
        return self.matched * self.factor
