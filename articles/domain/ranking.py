"""The formulas that rank, pure. The scripts in `repository/lua` compute the same; tests hold them equal."""

from dataclasses import dataclass
from math import log

VOTES_PER_DAY = 200
"""Of the source documents: what a site begins with, and the most that it chooses by itself."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """What ranks: the weight of a vote, and the hot list's α, β, base (hours) and γ."""

    votes_per_day: int = VOTES_PER_DAY
    alpha: float = 1.0
    beta: float = 1.2
    base: float = 2.0
    gamma: float = 1.5

    @property
    def seconds_per_point(self) -> float:
        """How far one point moves an article on the front page."""
        return 86400 / self.votes_per_day


RANGES: dict[str, tuple[float, float]] = {
    "votes_per_day": (1, 86400),
    "alpha": (0, 100),
    "beta": (0, 100),
    "base": (0.1, 48),
    "gamma": (1.0, 2.5),
}
"""Smallest and largest value of each parameter."""

LEAST_WEIGHT = 0.001
"""What α and β are together at least: less comes to a hotness of 0, by which nothing can be divided."""

RECOMMENDED_GAMMA = (1.3, 1.8)
"""For sites of news; 1.3 where articles stay interesting."""


def out_of_range(parameters: Parameters) -> list[str]:
    """Names of the parameters that are outside their range; α and β must not both be 0, or next to it."""
    wrong = [name for name, (low, high) in RANGES.items() if not low <= getattr(parameters, name) <= high]
    if 0 <= parameters.alpha + parameters.beta < LEAST_WEIGHT:
        wrong += ["alpha", "beta"]
    return wrong


def score(posted_at: float, points: int, *, seconds_per_point: float) -> float:
    """Front-page score, in Unix seconds: posting time pushed forward by each point.

    With 200 votes a day a point is worth 432 s, so that 200 votes now equal none a day later.
    """
    return posted_at + seconds_per_point * points


ONE_POINT = 1 << 32
"""What a point is worth in the ranking by points, whose rest is the posting time."""


def by_points(posted_at: float, points: int) -> int:
    """What an article is ranked by among the most points: the points, then the second of posting.

    `by_points` in `repository/lua/lib/formulas.lua` is the same.
    """
    return points * ONE_POINT + max(0, min(int(posted_at), ONE_POINT - 1))


def hotness(pv: int, uv: int, hours: float, parameters: Parameters) -> float:
    """Readership, page views and unique visitors, that fades with the article's age in hours."""
    readers = parameters.alpha * pv + parameters.beta * uv
    return float(readers / (hours + parameters.base) ** parameters.gamma)


def hours_between(posted_at: float, at: float) -> float:
    """An article's age at a moment, in hours; 0 for one that is posted later, by a clock that was set back."""
    return max(0.0, at - posted_at) / 3600


def half_life(parameters: Parameters) -> float:
    """Hours after posting until an article without new views has half its hotness."""
    return float(parameters.base * (2 ** (1 / parameters.gamma) - 1))


def gamma_for_half_life(hours: float, base: float) -> float:
    """The γ that halves a new article's hotness in so many hours; it may be outside γ's range."""
    return log(2) / log(1 + hours / base)
