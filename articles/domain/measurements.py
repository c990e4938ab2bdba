"""Measurements: what the site did in each five minutes of a day, for the operator's charts.

The web server's counters only grow, so what happened between two readings is the difference of their counters.
Where the counters began again, or the earlier reading is too old, the difference is not known.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isinf

EVERY = 300  # seconds between two readings; their times are multiples of it
LONGEST = 3 * EVERY  # seconds between two readings above which what happened in between belongs to neither
KEPT = 86400  # seconds a reading is kept: at most 288 of them
AHEAD = 3600  # seconds by which a reading may be ahead of the clock; one further ahead comes from a wrong clock
MEDIAN, SLOWEST = 0.5, 0.99  # shares of the requests that are answered within the two times of a measurement


@dataclass(frozen=True, slots=True)
class WebCounts:
    """What the web server's workers have counted since `began`, in Unix seconds.

    `within`: number of requests answered within a time, by the time in seconds as text; "+Inf" has all.
    """

    began: float
    votes: int
    views: int
    errors: int
    within: Mapping[str, int]

    def since(self, earlier: "WebCounts", read_at: float, now: float) -> "WebCounts | None":
        """Return the counts since `earlier`, read at `read_at`; None if unknown. Later ones are whole."""
        if earlier.began != self.began:
            return self if read_at <= self.began <= now else None
        counted = WebCounts(
            self.began,
            self.votes - earlier.votes,
            self.views - earlier.views,
            self.errors - earlier.errors,
            {bound: count - earlier.within.get(bound, 0) for bound, count in self.within.items()},
        )
        is_lost = min(counted.votes, counted.views, counted.errors, *counted.within.values()) < 0
        return None if is_lost else counted

    def percentile(self, share: float) -> float | None:
        """Return the time, in seconds, within which a share of the requests was answered; None without requests.

        Between two bounds it is interpolated; above the highest bound it is that bound.
        """
        bounds = sorted((float(bound), count) for bound, count in self.within.items())
        wanted = share * bounds[-1][1] if bounds else 0
        low, below = 0.0, 0
        for bound, count in bounds:
            if wanted and count >= wanted:
                return low if isinf(bound) else low + (bound - low) * (wanted - below) / (count - below)
            low, below = bound, count
        return None


@dataclass(frozen=True, slots=True)
class Measurement:
    """What happened until a moment, in Unix seconds, since the reading before it; None if not known."""

    at: float
    votes: int | None = None
    views: int | None = None
    errors: int | None = None
    median_seconds: float | None = None  # half of the requests were answered within this time
    p99_seconds: float | None = None  # 99 of 100 requests were answered within this time


def measured(readings: Sequence[tuple[float, WebCounts]]) -> list[Measurement]:
    """Return a measurement for each reading, in order; of the first, nothing is known."""
    first = [Measurement(at) for at, _counts in readings[:1]]
    return first + [_between(*two) for two in pairwise(readings)]


def _between(earlier: tuple[float, WebCounts], later: tuple[float, WebCounts]) -> Measurement:
    (read_at, before), (at, counts) = earlier, later
    counted = counts.since(before, read_at, at + EVERY) if at - read_at <= LONGEST else None
    if counted is None:
        return Measurement(at)
    times = counted.percentile(MEDIAN), counted.percentile(SLOWEST)
    return Measurement(at, counted.votes, counted.views, counted.errors, *times)
