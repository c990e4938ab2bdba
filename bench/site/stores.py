#!/usr/bin/env python3
"""The site on stores of several kinds, side by side: how long whole answers take.

    python -m bench.site.stores [--articles N] [--requests N] [--rounds N] [--store NAME SHARDS URL CACHE_URL]

Each store must be empty; the embedded one is always among them. One client sends one request after another, in
rounds that take turns among the sites, so that nothing waits but for its own answer. Times in milliseconds.
"""

import argparse
import math
import socket
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tqdm import tqdm

from bench.site.cases import Case, cases
from bench.site.contenders import filled
from bench.site.content import Content
from bench.site.load import read_response
from bench.site.processes import end_on_signals, free_port, running, wait_until
from bench.site.servers import OPEN, answers

MEASURED = (
    *("front page", "front page, member", "group page, member", "three groups, member"),
    *("hot list, member", "search", "feed", "vote"),
)

EMBEDDED = "embedded"


def settings_of(shards: str, redis_url: str, cache_url: str = "") -> dict[str, str]:
    """Return the variables of a site on a store."""
    return {"STORE_SHARDS": shards, "REDIS_URL": redis_url} | ({"CACHE_URL": cache_url} if cache_url else {})


@contextmanager
def site_on(folder: Path, name: str, own: dict[str, str], articles: int) -> Iterator[tuple[int, list[Case]]]:
    """Fill a site and run it; yield its port and the requests of each case."""
    data_dir = folder / name
    content = filled(data_dir, articles, **own)
    port, log = free_port(), folder / f"{name}.log"
    variables = OPEN | own | {"DATA_DIR": str(data_dir), "PORT": str(port)}
    with running([sys.executable, "manage.py", "run"], log, variables) as launcher:
        wait_until(lambda: answers(port, "/readyz"), launcher, log)
        yield port, measured(content)


def measured(content: Content) -> list[Case]:
    return [case for case in cases(content) if case.name in MEASURED]


def times_of(port: int, case: Case, first: int, count: int) -> list[float]:
    """Send some requests of a case, one after another; return the milliseconds that each took."""
    taken = []
    with socket.create_connection(("127.0.0.1", port), timeout=10) as link, link.makefile("rb") as stream:
        for at in range(first, first + count):
            began = time.perf_counter()
            link.sendall(case.requests[at % len(case.requests)])
            status, _ = read_response(stream)
            taken.append(1000 * (time.perf_counter() - began))
            if status != case.status:
                raise SystemExit(f"{case.name}: status {status}")
    return taken


def measure(sites: dict[str, tuple[int, list[Case]]], requests: int, rounds: int) -> str:
    """Return a table in Markdown: median, and the 99th of 100, of each case on each site."""
    lines = ["| | " + " | ".join(sites) + " |", "| --- |" + " ---: |" * len(sites)]
    for name in tqdm(MEASURED, leave=False):
        taken: dict[str, list[float]] = {site: [] for site in sites}
        for turn in range(rounds + 1):
            for site, (port, all_cases) in sites.items():
                case = next(case for case in all_cases if case.name == name)
                of_turn = times_of(port, case, turn * requests, requests)
                taken[site] += of_turn if turn else []  # the first one warms up
        lines.append(f"| {name} | {' | '.join(map(cell, taken.values()))} |")
    return "\n".join(lines)


def cell(taken: list[float]) -> str:
    slowest = sorted(taken)[math.ceil(0.99 * len(taken)) - 1]
    return f"{statistics.median(taken):.2f} ({slowest:.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=int, default=10_000)
    parser.add_argument("--requests", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--store", nargs="+", action="append", default=[], metavar="NAME SHARDS REDIS_URL [CACHE_URL]"
    )
    options = parser.parse_args()
    end_on_signals()
    stores: dict[str, dict[str, str]] = {EMBEDDED: {}} | {
        name: settings_of(*place) for name, *place in options.store
    }
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-")))
        sites = {
            name: stack.enter_context(site_on(folder, name, own, options.articles)) for name, own in stores.items()
        }
        print(f"\n{options.articles:,} articles; median (p99), ms\n")
        print(measure(sites, options.requests, options.rounds))


if __name__ == "__main__":
    main()
