"""A day's load in ten minutes, at 80 % of what the site can answer: python -m bench.load_model.steady

First, requests of the day's mix are sent as fast as they are answered: their rate is the capacity, with this
client on the same machine. Then a day passes, whose busiest hour has 80 % of it. Latencies count from when a
request is due. A request fails if it is refused, or if its connection ends before the answer. Can be interrupted.
"""

import argparse
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.load_model.client import Answers, send
from bench.load_model.day import read_day
from bench.load_model.traffic import Sent, Traffic
from bench.site.cases import HELLO
from bench.site.contenders import filled
from bench.site.processes import end_on_signals
from bench.site.report import publishing
from bench.site.report.table import markdown
from bench.site.servers import Server, site, workers
from bench.site.usage import addition_seconds, memory_bytes, store_counters

_SHARE = 0.8
_CAPACITY_SECONDS, _WARM_UP_SECONDS = 10.0, 5.0
_LOOKS = 10
"""At the memory, in the whole time."""


@dataclass
class Watch:
    """What the processes of a site do. `rows`: seconds, processes replaced so far, bytes of web and store."""

    server: Server
    every: float
    rows: list[tuple[float, int, int, int]] = field(default_factory=list)
    replaced: int = 0

    def look(self, stopping: threading.Event) -> None:
        began, seen = time.monotonic(), set(self.server.web())
        while not stopping.wait(min(1.0, self.every)):
            now = set(self.server.web())
            self.replaced += len(now - seen)
            seen |= now
            if (passed := time.monotonic() - began) >= self.every * (len(self.rows) + 1):
                store = store_counters(self.server.client).memory_bytes
                self.rows.append((passed, self.replaced, memory_bytes(now), store))


@contextmanager
def watched(server: Server, every: float) -> Iterator[Watch]:
    watch, stopping = Watch(server, every), threading.Event()
    thread = threading.Thread(target=watch.look, args=[stopping])
    thread.start()
    try:
        yield watch
    finally:
        stopping.set()
        thread.join()


def capacity(port: int, sent: Iterator[Sent], seconds: float) -> float:
    """Return how many of these requests are answered in a second, as fast as this client can send them."""
    began = time.monotonic()

    def until_the_end() -> Iterator[Sent]:
        while time.monotonic() < began + seconds:
            yield next(sent)

    answers = send(port, until_the_end())
    return sum(len(of.latencies) - of.failures for of in answers.values()) / (time.monotonic() - began)


def of_kinds(answers: Mapping[str, Answers]) -> str:
    """Return a table: what readers of each kind of page saw."""
    rows = [
        [
            kind,
            f"{len(of.latencies):,}",
            *(f"{of.quantile(share):.1f}" for share in (0.5, 0.99, 1.0)),
            f"{of.failures:,}",
        ]
        for kind, of in sorted(answers.items(), key=lambda item: -len(item[1].latencies))
    ]
    return markdown(["request", "sent", "p50, ms", "p99, ms", "slowest, ms", "failed"], rows)


def of_time(watch: Watch) -> str:
    """Return a table: the memory over the time, as multiples of the first look at it."""
    (_, _, first_web, first_store), *_ = watch.rows
    rows = [
        [
            f"{seconds / 60:.1f}",
            str(replaced),
            *(f"{web / first_web:.2f}", f"{web / 1e6:.0f}", f"{store / first_store:.2f}", f"{store / 1e6:.1f}"),
        ]
        for seconds, replaced, web, store in watch.rows
    ]
    columns = ["minute", "processes replaced", "web × first", "web, MB", "store × first", "store, MB"]
    return markdown(columns, rows)


def measure(folder: Path, articles: int, minutes: float) -> None:
    before, day, seconds = addition_seconds(), read_day(None), 60 * minutes
    content = filled(folder / "site", articles)
    with ExitStack() as stack:
        bare = stack.enter_context(workers("bench.site.peers.hello", folder))
        server = stack.enter_context(site(folder / "site"))
        hello = capacity(bare.port, _hellos(), _WARM_UP_SECONDS)
        busy = Traffic(content, day, "alone")
        mixed = iter(busy.any_kind, None)
        capacity(server.port, mixed, _WARM_UP_SECONDS)
        most = capacity(server.port, mixed, _CAPACITY_SECONDS)
        requests = round(_SHARE * most / day.peak * seconds)
        with watched(server, seconds / _LOOKS) as watch:
            answers = send(server.port, Traffic(content, day, "day").day(day.hours, requests, seconds))
    total = sum(len(of.latencies) for of in answers.values())
    failed = sum(of.failures for of in answers.values())
    summary = (
        f"Capacity {most / hello:#.3g} × hello with the same client, {most:,.0f} requests a second; the busiest "
        f"hour has {_SHARE:.0%} of it. {articles:,} articles; {total:,} requests in {minutes:g} minutes, "
        f"{failed:,} failed; {watch.replaced} processes were replaced.\n"
    )
    machine = publishing.machine(before, addition_seconds())
    publishing.publish("day", [machine, summary, of_kinds(answers), of_time(watch)])


def _hellos() -> Iterator[Sent]:
    while True:
        yield Sent(0.0, "hello", HELLO.requests[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, default=10)
    options = parser.parse_args()
    end_on_signals()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        measure(Path(folder), options.articles, options.minutes)


if __name__ == "__main__":
    main()
