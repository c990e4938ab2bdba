"""The store's own clock: never set back, and hardly ahead, by a machine whose clock jumps.

Each shard has one, `clock` in `ranking:`. The scripts use the later of it and the caller's clock as the present,
so that closed articles stay closed. Before they drop voter sets, which decide who has voted, they use the earlier
of the two.
"""

import time
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from articles.domain.lists import Order
from articles.repository.store.batches import ARTICLES_PER_STEP
from articles.repository.store.connection import Call, OfStore, exact_time
from articles.repository.store.values import moment_from

INTERVAL = 10.0
"""Seconds between two runs of housekeeping, as assumed where the time since the last run is not known."""

_START = Path("/proc/sys/kernel/random/boot_id")
_PROCESS = str(uuid.uuid4())


@dataclass(frozen=True, slots=True)
class Clocks:
    """Three clocks at one moment, in Unix seconds: the store's own, its machine's, and this machine's."""

    store: float
    store_machine: float
    machine: float


def machine_start() -> str:
    """Return an id of this machine's start; where the system has none, of this process."""
    with suppress(OSError):
        return _START.read_text().strip()
    return _PROCESS


def uptime() -> float:
    """Return seconds since this machine started, or since a fixed moment; no change of its clock affects them."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)


class StoreClock(OfStore):
    """The clock of a store, and the dropping of voter sets by it."""

    def advance(self) -> None:
        """Advance the clock towards this machine's, at most twice as fast as time. One round trip."""
        now, passed = exact_time(self._store.now()), f"{uptime():.3f}"
        self._store.run_many(
            Call("clock/advance", [keys.ranking], [now, machine_start(), passed, INTERVAL])
            for keys in self._store.shards.all
        )

    def compare(self) -> Clocks:
        """Return the clocks; of several shards' the latest. One round trip. Raises StoreError."""
        with self._store.pipeline() as pipe:
            pipe.time()
            for keys in self._store.shards.all:
                pipe.hget(keys.ranking, "clock")
            (seconds, microseconds), *clocks = pipe.execute()
        now = self._store.now()
        return Clocks(
            store=max(filter(None, map(moment_from, clocks)), default=now),
            store_machine=int(seconds) + int(microseconds) / 1e6,
            machine=now,
        )

    def accept(self) -> None:
        """Set the clock to this machine's clock, ahead or back. One round trip."""
        self._store.in_shards(lambda pipe, keys: pipe.hset(keys.ranking, "clock", exact_time(self._store.now())))

    def drop_voters(self, budget: float) -> int:
        """Drop voter sets of articles and comments closed for longer than the grace; return how many.

        Takes about `budget` seconds at most. Safe to interrupt. One round trip for each step. Raises StoreError.
        """
        ends, dropped = time.monotonic() + budget, 0
        grace, records = self._store.rules.voters_grace, int(self._store.rules.records_ballots)
        for keys in self._store.shards.all:
            articles = [keys.ranking, keys.order(Order.TIME), keys.removed]
            for script, given, first, last in (
                ("votes/drop_voters", articles, [keys.prefix], records),
                ("comments/drop_voters", [keys.comment_voters], [], keys.prefix),
            ):
                more = True
                while more:
                    now = exact_time(self._store.now())
                    count, rest = self._store.run(script, given, [*first, now, grace, ARTICLES_PER_STEP, last])
                    dropped += int(count)
                    more = rest and time.monotonic() <= ends
        return dropped
