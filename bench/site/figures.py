"""The figures of a contender: medians of its runs, and how far they are apart."""

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bench.site.load import Load
from bench.site.usage import StoreCounters


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a contender: what its client observed, and what its processes used. CPU in seconds."""

    load: Load
    web_cpu: float = 0.0
    store_cpu: float = 0.0
    counters: StoreCounters = field(default_factory=StoreCounters)
    """Differences between the end and the beginning, except for the memory."""

    web_memory: int = 0
    """Bytes."""

    share: float = 0.0
    """Its rate as a share of the bare view's just before and after."""

    def per_request(self, amount: float) -> float:
        return amount / max(1, self.load.requests + self.load.unanswered)


@dataclass(frozen=True, slots=True)
class Figures:
    """Medians of some runs. Latencies and CPU times in milliseconds, memory in bytes."""

    runs: int
    rate: float
    slowest: float
    fastest: float
    """Requests a second of the slowest and of the fastest run."""

    share: float
    """Median of the shares of the bare view's rate."""

    p50: float
    p99: float
    web_ms: float
    store_ms: float
    commands: float
    round_trips: float
    web_memory: float
    store_memory: float
    requests: int
    refused: int
    failures: int
    """Sums of all runs."""

    @property
    def answered(self) -> int:
        """Requests that were answered as they should be."""
        return self.requests - self.refused

    @property
    def spread(self) -> float:
        """Half of the distance between the slowest and the fastest run, as a share of the median."""
        return (self.fastest - self.slowest) / 2 / self.rate if self.rate else 0.0


def figures(runs: Sequence[Run]) -> Figures:
    def median(value: Callable[[Run], float]) -> float:
        return statistics.median(map(value, runs))

    return Figures(
        runs=len(runs),
        rate=median(lambda run: run.load.rate),
        slowest=min(run.load.rate for run in runs),
        fastest=max(run.load.rate for run in runs),
        share=median(lambda run: run.share),
        p50=median(lambda run: run.load.p50),
        p99=median(lambda run: run.load.p99),
        web_ms=median(lambda run: 1000 * run.per_request(run.web_cpu)),
        store_ms=median(lambda run: 1000 * run.per_request(run.store_cpu)),
        commands=median(lambda run: run.per_request(run.counters.commands)),
        round_trips=median(lambda run: run.per_request(run.counters.round_trips)),
        web_memory=median(lambda run: run.web_memory),
        store_memory=median(lambda run: run.counters.memory_bytes),
        requests=sum(run.load.requests for run in runs),
        refused=sum(run.load.refused for run in runs),
        failures=sum(run.load.failures for run in runs),
    )
