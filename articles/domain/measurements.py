"""Measurements: figures of the site's operation, every five minutes, for the charts of the last 24 hours.

Counters only grow, so what happened between two measurements is the difference of their counters. Where a counter
began again, or one measurement is too old, the difference is not known.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isinf

EVERY = 300
"""Seconds between two measurements; their times are multiples of it."""

LONGEST = 3 * EVERY
"""Seconds between two measurements above which what happened in between belongs to neither."""

KEPT = 86400
"""Seconds a measurement is kept: at most 288 of them."""

AHEAD = 3600
"""Seconds by which a measurement may be ahead of the clock; one further ahead comes from a wrong clock."""

MEDIAN, SLOWEST = 0.5, 0.99
"""Shares of the requests that are answered within the two times of a measurement."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """Figures at a moment, in Unix seconds, and counts since the measurement before it; None if not known."""

    at: float
    votes: int | None = None
    posts: int | None = None
    views: int | None = None
    requests: int | None = None
    errors: int | None = None
    median_seconds: float | None = None
    """Half of the requests were answered within this time."""

    p99_seconds: float | None = None
    """99 of 100 requests were answered within this time."""

    memory_bytes: int | None = None
    """Memory that the store uses."""

    file_bytes: int | None = None
    """Size of the store's append-only file."""


@dataclass(frozen=True, slots=True)
class WebCounts:
    """What the web server's workers have counted since `began`, in Unix seconds.

    `within`: number of requests answered within a time, by the time in seconds as text; "+Inf" has all.
    """

    began: float
    requests: int
    errors: int
    votes: int
    within: Mapping[str, int]

    def since(self, earlier: "WebCounts | None", read_at: float, now: float) -> "WebCounts | None":
        """Return the counts since `earlier`, which was read at `read_at`; None if they are not known.

        Counts that began after that reading are all later.
        """
        if earlier is None or earlier.began != self.began:
            return self if read_at <= self.began <= now else None
        counted = WebCounts(
            self.began,
            self.requests - earlier.requests,
            self.errors - earlier.errors,
            self.votes - earlier.votes,
            {bound: count - earlier.within.get(bound, 0) for bound, count in self.within.items()},
        )
        is_lost = min(counted.requests, counted.errors, counted.votes, *counted.within.values()) < 0
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
