"""A day of measurements, for the operator's charts."""

import math

from articles.domain.measurements import EVERY, KEPT, WebCounts
from articles.repository import Repository
from tests.store_state import set_clock

_GAP = range(130, 142)  # moments at which nothing was measured
_BOUNDS = {"0.005": 0.4, "0.01": 0.7, "0.025": 0.9, "0.05": 0.96, "0.1": 0.985, "0.25": 0.998, "+Inf": 1.0}


def measure_a_day(repository: Repository) -> None:
    """Record the last 24 hours of a site with more readers by day than by night, up to now."""
    now, counts = repository.store.now(), WebCounts(1.0, 0, 0, 0, dict.fromkeys(_BOUNDS, 0))
    for n in range(KEPT // EVERY):
        counts = _later(counts, n)
        set_clock(repository, now - KEPT + (n + 1) * EVERY)
        if n not in _GAP:
            repository.measurements.record(lambda counts=counts: counts)  # type: ignore[misc]
    set_clock(repository, now)


def _later(counts: WebCounts, n: int) -> WebCounts:
    """Return the counts five minutes later."""
    requests = round(900 + 700 * math.sin(n / 46) + 90 * math.sin(n * 2.4))
    slower = 0.9 if n % 60 > 54 else 1.0
    return WebCounts(
        counts.began,
        counts.votes + requests // 80,
        counts.views + requests // 3,
        counts.errors + (40 if n in (70, 71) else 0),
        {
            bound: counts.within[bound] + round(requests * (share if share == 1 else share * slower))
            for bound, share in _BOUNDS.items()
        },
    )
