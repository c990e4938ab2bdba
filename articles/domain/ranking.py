"""The formulas that rank, and votes per day, learnt from the points of the site's own articles. Pure.

The scripts in `repository/lua` compute the same; tests hold them equal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, log

from articles.domain.articles import LATEST

VOTES_PER_DAY = 200
"""The value in the source documents. A site begins with it, and never chooses a higher one by itself."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """The ranking's parameters: votes per day, and the hot list's α, β, base (hours) and γ."""

    votes_per_day: int = VOTES_PER_DAY
    alpha: float = 1.0
    beta: float = 1.2
    base: float = 2.0
    gamma: float = 1.5

    @property
    def seconds_per_point(self) -> float:
        """Seconds by which one point moves an article on the front page."""
        return 86400 / self.votes_per_day


RANGES: dict[str, tuple[float, float]] = {
    "votes_per_day": (1, 86400),
    "alpha": (0, 100),
    "beta": (0, 100),
    "base": (0.1, 48),
    "gamma": (1.0, 2.5),
}
"""Smallest and largest value of each parameter."""

LEAST_WEIGHT = 0.001  # minimum of α + β: less would make every hotness 0, and other values are divided by it
RECOMMENDED_GAMMA = (1.3, 1.8)  # recommended range for news; 1.3 where articles stay interesting for long


def out_of_range(parameters: Parameters) -> list[str]:
    """Return the names of parameters outside their range; α and β if their sum is below LEAST_WEIGHT."""
    wrong = [name for name, (low, high) in RANGES.items() if not low <= getattr(parameters, name) <= high]
    if 0 <= parameters.alpha + parameters.beta < LEAST_WEIGHT:
        wrong += ["alpha", "beta"]
    return wrong


def score(posted_at: float, points: int, *, seconds_per_point: float) -> float:
    """Return the front-page score, in Unix seconds: the posting time, moved forward by each point.

    With 200 votes per day a point is worth 432 s, so 200 votes outweigh one day of age.
    """
    return posted_at + seconds_per_point * points


ONE_POINT = 1 << 32  # value of a point in the ranking by points; the remainder is the posting time


def by_points(posted_at: float, points: int) -> int:
    """Return the value in the ranking by points, then second of posting; formulas.lua has the same."""
    return points * ONE_POINT + max(0, min(int(posted_at), ONE_POINT - 1))


def activity(last_comment_at: float, *, is_locked: bool) -> float:
    """Return the value in the order of discussions: the time of the last shown comment, in Unix seconds.

    Locked discussions come after all others. `activity` in `repository/lua/lib/formulas.lua` is the same.
    """
    return last_comment_at - LATEST if is_locked else last_comment_at


SHARE = 10  # articles in a followed group's share; every share takes the same room on the page of followed groups
LAG_SECONDS = 30 * 86400
"""Seconds by which a followed group's best article may be behind that of another before it gives up one share."""

LEAST_SPREAD_SECONDS = 3600  # minimum seconds between the first and the last article of a share


def followed_place(score: float, *, best: float, last: float, leading: float) -> float:
    """Return the place of an article among those of the followed groups: the lowest comes first.

    All in seconds, as scores of the front page: that of the article, of the best one in its group, of the last one
    in the group's share, which is its best SHARE articles, and of the best one in any followed group. Each group
    is measured by its own best article: its share takes the places from 0 to 1, whether it was posted within an
    hour or a month, so that a busy group takes no more room than a quiet one. A group whose best article has
    fallen behind begins later.
    """
    return (leading - best) / LAG_SECONDS + (best - score) / max(best - last, LEAST_SPREAD_SECONDS)


def hotness(pv: int, uv: int, hours: float, parameters: Parameters) -> float:
    """Return the hotness: page views and unique visitors, decaying with the article's age in hours."""
    readers = parameters.alpha * pv + parameters.beta * uv
    return float(readers / (hours + parameters.base) ** parameters.gamma)


def hours_between(posted_at: float, at: float) -> float:
    """Return an article's age at a moment, in hours; 0 if it was posted later, by a clock that was set back."""
    return max(0.0, at - posted_at) / 3600


def half_life(parameters: Parameters) -> float:
    """Return the hours after posting in which the hotness of an article without new views halves."""
    return float(parameters.base * (2 ** (1 / parameters.gamma) - 1))


def gamma_for_half_life(hours: float, base: float) -> float:
    """Return the γ with which a new article's hotness halves in `hours`; it may be outside γ's range."""
    return log(2) / log(1 + hours / base)


DAY = 86400.0

PERCENT = 75  # percentage of recent articles whose points do not exceed the votes per day
RECENT = 30 * DAY  # period of the articles to learn from, in seconds before the newest one
SETTLED = DAY  # age in seconds from which an article is used: by then it has most of its votes

LOWEST, HIGHEST = 5, VOTES_PER_DAY
"""Limits of votes per day. With fewer, single votes would decide; the source documents use the upper limit."""

FEWEST_ARTICLES, FEWEST_CHOICES = 30, 100
"""Minimum to learn from: articles, and votes and opposes on them besides the posters' own votes."""

PATIENCE = 7 * DAY  # seconds for which a new site keeps its initial votes per day


@dataclass(frozen=True, slots=True)
class Settled:
    """Points of settled recent articles. `choices`: votes and opposes on them besides the posters' own votes.

    `since`: posting time of the site's oldest article, in Unix seconds; None without articles.
    """

    points: Sequence[int]
    choices: int
    since: float | None


def nearest_rank(values: Sequence[int], percent: int) -> int:
    """Return the smallest value that `percent` of the values do not exceed. There must be at least one."""
    return sorted(values)[max(1, ceil(len(values) * percent / 100)) - 1]


def fitting_votes_per_day(recent: Settled) -> int | None:
    """Return the votes per day that fit the site; None if there is too little to learn from."""
    if len(recent.points) < FEWEST_ARTICLES or recent.choices < FEWEST_CHOICES:
        return None
    return min(max(nearest_rank(recent.points, PERCENT), LOWEST), HIGHEST)


def is_worth_a_change(current: int, fitting: int) -> bool:
    """Return whether the votes per day differ by more than a fifth: less does not justify moving every article."""
    return abs(fitting - current) * 5 > current
