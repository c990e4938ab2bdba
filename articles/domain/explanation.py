"""Why an article stands where it does: its places, and the sums that put it there. `ranking` computes them."""

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from articles.domain import ranking
from articles.domain.articles import ArticleId
from articles.domain.ranking import Parameters

DECAY_HOURS = 72
"""How far ahead hotness is foretold."""

_NOISE = 1e-6
"""Seconds by which sums of the same parts may differ in the last bits; posting times differ by 0.001 at least."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The article next to another one in a list. `value` ranks it; `apart`: by how much they differ.

    `worth`: how many votes, on the hot list how many views by new visitors, make up for that.
    """

    id: ArticleId
    title: str
    value: float
    apart: float
    worth: int


@dataclass(frozen=True, slots=True)
class Place:
    """A rank, counted from 1, in a list of so many articles, and who stands next to it."""

    rank: int
    of: int
    above: Neighbour | None = None
    below: Neighbour | None = None


@dataclass(frozen=True, slots=True)
class GroupPlace:
    """The same in a group's list by score."""

    slug: str
    title: str
    rank: int
    of: int


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """What the front page is ordered by. Times in Unix seconds."""

    posted_at: float
    votes: int
    opposes: int
    seconds_per_point: float

    @property
    def points(self) -> int:
        return self.votes - self.opposes

    @property
    def pushed(self) -> float:
        """Seconds by which the points move it, backwards if they are negative."""
        return self.seconds_per_point * self.points

    @property
    def value(self) -> float:
        """The score, exactly as it ranks."""
        return self.with_more(0)

    def with_more(self, votes: int) -> float:
        """The score it would have with so many more votes."""
        return ranking.score(self.posted_at, self.points + votes, seconds_per_point=self.seconds_per_point)

    def worth(self, apart: float) -> int:
        """How many votes make up for a difference of scores."""
        return max(0, ceil((apart - _NOISE) / self.seconds_per_point))


@dataclass(frozen=True, slots=True)
class HotnessParts:
    """What the hot list is ordered by, at the moment it was last scored. Times in Unix seconds."""

    pv: int
    uv: int
    posted_at: float
    refreshed_at: float
    parameters: Parameters

    @property
    def hours(self) -> float:
        """Age at that moment."""
        return ranking.hours_between(self.posted_at, self.refreshed_at)

    @property
    def readers(self) -> float:
        """Views and visitors, each by its weight: what is divided."""
        return self.parameters.alpha * self.pv + self.parameters.beta * self.uv

    @property
    def denominator(self) -> float:
        """What age divides it by."""
        return float((self.hours + self.parameters.base) ** self.parameters.gamma)

    @property
    def value(self) -> float:
        """The hotness, as it ranks."""
        return self.after(0)

    def after(self, hours: float) -> float:
        """Its hotness so many hours later, if nobody views it any more."""
        age = ranking.hours_between(self.posted_at, self.refreshed_at + 3600 * hours)
        return ranking.hotness(self.pv, self.uv, age, self.parameters)

    def worth(self, apart: float) -> int:
        """How many more views of it, each by a new visitor, make up for a difference of hotness."""
        one = (self.parameters.alpha + self.parameters.beta) / self.denominator
        return max(0, ceil(round(apart / one, 6)))


@dataclass(frozen=True, slots=True)
class NextVote:
    """What one more vote would do: `seconds` onto the score, and the rank it would then have."""

    seconds: float
    rank: int
    gained: int
    """How many places that is higher."""


class Sample(NamedTuple):
    """Where an article stood at a moment, in Unix seconds. A rank is None where it was not among the first."""

    at: float
    rank: int | None
    points: int
    hot_rank: int | None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a listed article ranks where it does, all of it at one moment. Times in Unix seconds."""

    article_id: ArticleId
    score: ScoreParts
    front: Place
    groups: tuple[GroupPlace, ...]
    hotness: HotnessParts
    hot: Place | None
    """None: it is not on the hot list."""

    next_vote: NextVote | None
    """None: voting is closed."""

    closes_at: float
    history: tuple[Sample, ...]
    """Oldest first."""
