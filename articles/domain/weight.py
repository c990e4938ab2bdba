"""Votes per day, learnt from the points of the site's own articles. Pure.

An article with that many points ranks level with one posted a day later without any. So the number decides how
long popular articles stay on the front page. docs/front-page.md compares other choices of PERCENT.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from articles.domain.ranking import VOTES_PER_DAY

DAY = 86400.0

PERCENT = 75
"""Percentage of recent articles whose points do not exceed the votes per day."""

RECENT = 30 * DAY
"""Period of the articles to learn from, in seconds before the newest one."""

SETTLED = DAY
"""Age in seconds from which an article is used: by then it has most of its votes."""

LOWEST, HIGHEST = 5, VOTES_PER_DAY
"""Limits of votes per day. With fewer, single votes would decide; the source documents use the upper limit."""

FEWEST_ARTICLES, FEWEST_CHOICES = 30, 100
"""Minimum to learn from: articles, and votes and opposes on them besides the posters' own votes."""

PATIENCE = 7 * DAY
"""Seconds for which a new site keeps its initial votes per day."""


@dataclass(frozen=True, slots=True)
class Recent:
    """Points of settled recent articles. `choices`: votes and opposes on them besides the posters' own votes.

    `since`: posting time of the site's oldest article, in Unix seconds; None without articles.
    """

    points: Sequence[int]
    choices: int
    since: float | None


def nearest_rank(values: Sequence[int], percent: int) -> int:
    """Return the smallest value that `percent` of the values do not exceed. There must be at least one."""
    return sorted(values)[max(1, ceil(len(values) * percent / 100)) - 1]


def fitting_votes_per_day(recent: Recent) -> int | None:
    """Return the votes per day that fit the site; None if there is too little to learn from."""
    if len(recent.points) < FEWEST_ARTICLES or recent.choices < FEWEST_CHOICES:
        return None
    return min(max(nearest_rank(recent.points, PERCENT), LOWEST), HIGHEST)


def is_worth_a_change(current: int, fitting: int) -> bool:
    """Return whether the votes per day differ by more than a fifth: less does not justify moving every article."""
    return abs(fitting - current) * 5 > current
