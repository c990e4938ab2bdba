"""Calculations of the ranking lab: moves in a list, the meaning of parameters, and proposals. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace

from articles.domain import ranking
from articles.domain.articles import Article, ArticleId
from articles.domain.ranking import DAY, RANGES, Parameters

TOP = 25  # articles of each list that are compared
HALF_LIVES = (1, 2, 4, 8, 12, 24)  # half-lives, in hours, that are proposed
SHORTEST, LONGEST = 0.04, 48.0  # range of the half-lives, in hours, that base and γ can reach within their ranges

_CURVE_HOURS = (6, 12, 24, 48, 72, 168, 336)


@dataclass(frozen=True, slots=True)
class Move:
    """An article's rank by other parameters, and `before` in the current list; None if not among its first."""

    rank: int
    before: int | None

    @property
    def places(self) -> int:
        """Places it rises; negative if it falls, 0 if it stays or is new."""
        return 0 if self.before is None else self.before - self.rank


def moves(current: Sequence[ArticleId], other: Sequence[ArticleId]) -> list[Move]:
    """Return the move of each article of `other`, compared with the `current` list."""
    places = {article_id: place for place, article_id in enumerate(current, 1)}
    return [Move(rank, places.get(article_id)) for rank, article_id in enumerate(other, 1)]


def share_older_than_a_day(articles: Sequence[Article], at: float) -> float | None:
    """Return the share, 0 to 1, of articles posted more than a day before `at`; None without articles."""
    if not articles:
        return None
    return sum(at - article.posted_at > DAY for article in articles) / len(articles)


def changes(before: Parameters, after: Parameters) -> dict[str, tuple[float, float]]:
    """Return the parameters that differ, by name, with both values."""
    old, new = asdict(before), asdict(after)
    return {name: (old[name], new[name]) for name in RANGES if old[name] != new[name]}


def remaining(parameters: Parameters) -> Callable[[float], float]:
    """Return a function of hours without new views that returns the remaining percentage of the hotness."""
    initial = ranking.hotness(1, 1, 0, parameters)
    return lambda hours: 100 * ranking.hotness(1, 1, hours, parameters) / initial


def curve_hours(*alternatives: Parameters) -> int:
    """Return how many hours to draw so that the decay with each of the alternatives is visible."""
    slowest = max(map(ranking.half_life, alternatives))
    return next((hours for hours in _CURVE_HOURS if hours >= 8 * slowest), _CURVE_HOURS[-1])


def with_half_life(hours: float, parameters: Parameters) -> Parameters | None:
    """Return the parameters with the γ, to two digits, for a half-life in hours; None if γ is out of its range."""
    gamma = round(ranking.gamma_for_half_life(hours, parameters.base), 2)
    return replace(parameters, gamma=gamma) if _within("gamma", gamma) else None


def with_half_life_and_base(hours: float, parameters: Parameters) -> Parameters | None:
    """Return them with a base and, if it has to change, the γ for a half-life in hours; None if out of range."""
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
    """Parameters with which a new article's hotness halves in about `hours`."""

    hours: float
    parameters: Parameters


def half_life_proposals(parameters: Parameters) -> list[HalfLifeProposal]:
    """Return a proposal for each of HALF_LIVES: another γ, or another base where γ alone does not suffice."""
    proposals = (
        (hours, with_half_life(hours, parameters) or with_half_life_and_base(hours, parameters))
        for hours in HALF_LIVES
    )
    return [HalfLifeProposal(hours, proposed) for hours, proposed in proposals if proposed]
