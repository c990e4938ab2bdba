"""What the ranking lab works out: how a list moves, what parameters mean in words, which ones to propose. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from articles.domain import ranking
from articles.domain.articles import Article, ArticleId
from articles.domain.ranking import RANGES, Parameters
from articles.domain.weight import DAY

TOP = 25
"""Articles of a list that are compared."""

HALF_LIVES = (1, 2, 4, 8, 12, 24)
"""Hours that are offered as half-lives."""

SHORTEST, LONGEST = 0.04, 48.0
"""Half-lives, in hours, that some base and γ within their ranges reach."""

_CURVE_HOURS = (6, 12, 24, 48, 72, 168, 336)


@dataclass(frozen=True, slots=True)
class Move:
    """An article's place in the list by other parameters, and in the list in force if it is among its first."""

    rank: int
    before: int | None

    @property
    def places(self) -> int:
        """How many places it rises; negative if it falls, 0 if it stays or is new."""
        return 0 if self.before is None else self.before - self.rank


def moves(in_force: Sequence[ArticleId], other: Sequence[ArticleId]) -> list[Move]:
    """The move of each article of `other`."""
    places = {article_id: place for place, article_id in enumerate(in_force, 1)}
    return [Move(rank, places.get(article_id)) for rank, article_id in enumerate(other, 1)]


def share_older_than_a_day(articles: Sequence[Article], at: float) -> float | None:
    """Which part of the articles was posted more than a day before `at`, 0 to 1; None where there are none."""
    if not articles:
        return None
    return sum(at - article.posted_at > DAY for article in articles) / len(articles)


def changes(before: Parameters, after: Parameters) -> dict[str, tuple[float, float]]:
    """The parameters that differ, with both values."""
    old, new = asdict(before), asdict(after)
    return {name: (old[name], new[name]) for name in RANGES if old[name] != new[name]}


def remaining(parameters: Parameters) -> Callable[[float], float]:
    """Percent of the hotness at posting that is left after so many hours without new views."""
    begin = ranking.hotness(1, 1, 0, parameters)
    return lambda hours: 100 * ranking.hotness(1, 1, hours, parameters) / begin


def curve_hours(*settings: Parameters) -> int:
    """How many hours to draw so that the decay of all these can be seen."""
    slowest = max(ranking.half_life(one) for one in settings)
    return next((hours for hours in _CURVE_HOURS if hours >= 8 * slowest), _CURVE_HOURS[-1])


def with_half_life(hours: float, parameters: Parameters) -> Parameters | None:
    """The same with the γ, to two digits, that halves hotness in so many hours; None if that is out of range."""
    gamma = round(ranking.gamma_for_half_life(hours, parameters.base), 2)
    return replace(parameters, gamma=gamma) if _within("gamma", gamma) else None


def with_half_life_and_base(hours: float, parameters: Parameters) -> Parameters | None:
    """The same with another base that reaches the half-life: with the γ given if possible.

    None if the half-life is not between SHORTEST and LONGEST.
    """
    low, high = RANGES["base"]
    base = round(hours / (2 ** (1 / parameters.gamma) - 1), 2)
    if _within("base", base):
        return replace(parameters, base=base)
    return with_half_life(hours, replace(parameters, base=low if base < low else high))


def _within(name: str, value: float) -> bool:
    low, high = RANGES[name]
    return low <= value <= high


@dataclass(frozen=True, slots=True)
class HalfLifeProposal:
    """Parameters that halve a new article's hotness in about so many hours."""

    hours: float
    parameters: Parameters


def half_life_proposals(parameters: Parameters) -> list[HalfLifeProposal]:
    """For each of HALF_LIVES: another γ, or another base where γ alone does not reach it."""
    found = (
        (hours, with_half_life(hours, parameters) or with_half_life_and_base(hours, parameters))
        for hours in HALF_LIVES
    )
    return [HalfLifeProposal(hours, proposed) for hours, proposed in found if proposed]
