"""How many votes are worth a day on this site, learnt from the points its own articles get. Pure.

An article with that many points ranks level with one posted a day later and without any. So the number decides how
long what members like stays on the front page. docs/front-page.md compares other choices of PERCENT.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from articles.domain.ranking import VOTES_PER_DAY

DAY = 86400.0

PERCENT = 75
"""Of recent articles that have at most as many points as are worth a day."""

RECENT = 30 * DAY
"""Articles of how long are learnt from, counted back from the newest one."""

SETTLED = DAY
"""How old an article is before it counts: by then it has most of its votes."""

LOWEST, HIGHEST = 5, VOTES_PER_DAY
"""Below, single votes would decide; above is what the source documents use."""

FEWEST_ARTICLES, FEWEST_CHOICES = 30, 100
"""What there is to be to learn from: articles, and votes and opposes on them besides the posters' own votes."""

PATIENCE = 7 * DAY
"""How long a site that began empty keeps its first weight."""


@dataclass(frozen=True, slots=True)
class Recent:
    """Points of settled recent articles. `choices`: votes and opposes on them besides the posters' own votes.

    `since`: when the oldest article of the site was posted, in Unix seconds; None where there is none.
    """

    points: Sequence[int]
    choices: int
    since: float | None


def nearest_rank(values: Sequence[int], percent: int) -> int:
    """The smallest of the values (not none) that so many percent of them do not exceed."""
    return sorted(values)[max(1, ceil(len(values) * percent / 100)) - 1]


def fitting_votes_per_day(recent: Recent) -> int | None:
    """Votes per day that fit the site; None where there is too little to learn from."""
    if len(recent.points) < FEWEST_ARTICLES or recent.choices < FEWEST_CHOICES:
        return None
    return min(max(nearest_rank(recent.points, PERCENT), LOWEST), HIGHEST)


def is_worth_a_change(in_force: int, fitting: int) -> bool:
    """Whether two numbers of votes per day differ by more than a fifth: less is not worth moving every article."""
    return abs(fitting - in_force) * 5 > in_force
