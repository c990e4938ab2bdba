"""Measurements of a running site: each kind of request alone, and a day of all of them."""

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from bench.load_model.client import Answers, send
from bench.load_model.day import Day
from bench.load_model.mix import REPLAYED
from bench.load_model.model import Cost
from bench.load_model.traffic import Traffic
from bench.site.servers import Server
from bench.site.usage import store_counters

_RATES = {True: 1000.0, False: 60.0}
"""Requests a second of one kind, kept and fresh. A site at its limit needs less for each fresh one: writes that
arrive together are synced at once, and its code is in the processor's caches."""

_WARM_UP = 0.3
"""Seconds until the code that draws a page is compiled."""

_IDLE_SECONDS = 3.0
_SETTLE_SECONDS = 0.3
_AT_REST = 60
"""Commands of the store in a second, at most, when the work after a start is done."""


class Refused(Exception):
    """The site refuses a kind of request, so it can't be measured."""


@dataclass
class Used:
    """What a site has used inside a block. CPU in milliseconds."""

    seconds: float = 0.0
    web_ms: float = 0.0
    store_ms: float = 0.0
    commands: int = 0
    round_trips: int = 0

    def cost(self, requests: float, content: float) -> Cost:
        """Return the cost of each of this many requests."""
        return Cost(self.web_ms, self.store_ms, self.commands, self.round_trips, content).times(1 / requests)


@contextmanager
def usage(server: Server) -> Iterator[Used]:
    """Yield what will have been used when the block ends."""
    used, began = Used(), time.monotonic()
    web, store, counters = cpu_ms(server.web()), cpu_ms(server.store()), store_counters(server.client)
    yield used
    time.sleep(_SETTLE_SECONDS)
    after = store_counters(server.client)
    used.seconds = time.monotonic() - began
    used.web_ms, used.store_ms = cpu_ms(server.web()) - web, cpu_ms(server.store()) - store
    used.commands, used.round_trips = after.commands - counters.commands, after.round_trips - counters.round_trips


def cpu_ms(pids: Iterable[int]) -> float:
    """Return the CPU time of all threads of running processes: finer than the ticks of /proc/PID/stat."""
    nanoseconds = 0
    for pid in pids:
        for thread in Path(f"/proc/{pid}/task").glob("*/schedstat"):
            with suppress(OSError):
                nanoseconds += int(thread.read_text("ascii").split()[0])
    return nanoseconds / 1e6


@dataclass(frozen=True, slots=True)
class Replayed:
    """A day: what it used, what its readers saw, and the requests that were sent in each hour."""

    used: Used
    answers: Mapping[str, Answers]
    hours: list[dict[str, int]] = field(default_factory=list)
    seconds: float = 0.0
    """Duration of the whole day."""


def idle(server: Server) -> Used:
    """Return what an idle site uses once it has done what it does after a start."""
    for _ in range(20):
        with usage(server) as used:
            time.sleep(1 - _SETTLE_SECONDS)
        if used.commands <= _AT_REST:
            break
    with usage(server) as used:
        time.sleep(_IDLE_SECONDS)
    return used


def costs(
    server: Server, traffic: Traffic, kinds: Iterable[str], seconds: float, resting: Used, *, are_kept: bool
) -> dict[str, Cost]:
    """Return the cost of each kind, without what the site uses at rest. Raises Refused."""
    measured, rate = {}, _RATES[are_kept]
    for kind in kinds:
        send(server.port, traffic.alone(kind, rate, _WARM_UP))
        with usage(server) as used:
            answers = send(server.port, traffic.alone(kind, rate, seconds))[kind]
        if answers.failures > 0.01 * len(answers.latencies):
            raise Refused(f"{kind}: {answers.failures} of {len(answers.latencies)} requests failed")
        measured[kind] = without(used, resting).cost(len(answers.latencies), answers.bytes)
    return measured


def without(used: Used, resting: Used) -> Used:
    """Return what was used beyond what the site uses at rest in the same time."""
    share = used.seconds / resting.seconds
    return Used(
        used.seconds,
        max(0.0, used.web_ms - share * resting.web_ms),
        max(0.0, used.store_ms - share * resting.store_ms),
        max(0, used.commands - round(share * resting.commands)),
        max(0, used.round_trips - round(share * resting.round_trips)),
    )


def replay(server: Server, traffic: Traffic, day: Day, requests: int, seconds: float) -> Replayed:
    """Send a day's traffic within this many seconds."""
    sent, length = list(traffic.day(day.hours, requests, seconds)), seconds / len(day.hours)
    hours: list[dict[str, int]] = [dict.fromkeys(REPLAYED, 0) for _ in day.hours]
    for one in sent:
        hours[int(one.due // length)][one.kind] += 1
    with usage(server) as used:
        answers = send(server.port, sent)
    return Replayed(used, answers, hours, seconds)
