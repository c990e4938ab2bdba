#!/usr/bin/env python3
"""Error of the estimated number of unique visitors, with digests like those of the site.

    python -m bench.hyperloglog [--runs N]

Each run counts different visitors in a new HyperLogLog. 0.81 % is one standard error of an estimate, not a bound:
two of three runs are within it, and 99.7 % within three standard errors (2.44 %).
"""

import argparse
import tempfile
from hashlib import blake2b
from pathlib import Path
from statistics import fmean, stdev

from tqdm import tqdm

from articles.repository.store.clients.client import make_clients
from voting_site.embedded import StorePaths, Supervisor

SIZES = (100, 1_000, 10_000, 100_000)
STANDARD_ERROR = 0.0081
BATCH = 1000


def digest(visitor: str) -> str:
    """Return 16 hex digits, as `articles.readership.identity` does."""
    return blake2b(visitor.encode(), key=b"bench", digest_size=8).hexdigest()


def errors(client, size: int, runs: int) -> list[float]:
    """Return the relative error of each run's estimate."""
    relative_errors = []
    for run in tqdm(range(runs), desc=f"{size:,} visitors", leave=False):
        for at in range(0, size, BATCH):
            client.pfadd("sketch", *(digest(f"{run}:{n}") for n in range(at, min(at + BATCH, size))))
        relative_errors.append(client.pfcount("sketch") / size - 1)
        client.delete("sketch")
    return relative_errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = StorePaths(Path(folder))
        supervisor = Supervisor(paths, config={"appendfsync": "no"})
        supervisor.start(30)
        try:
            client = make_clients(paths.url(0)).main
            rows = [(size, errors(client, size, options.runs)) for size in SIZES]
        finally:
            supervisor.stop()
    report(rows, options.runs)


def report(rows: list[tuple[int, list[float]]], runs: int) -> None:
    print(f"{runs} runs each")
    print("| visitors | mean error | standard deviation | largest error | within 0.81 % | within 2.44 % |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for visitors, relative_errors in rows:
        sizes = [abs(error) for error in relative_errors]
        shares = [
            sum(error <= most for error in sizes) / runs for most in (STANDARD_ERROR, 3.012 * STANDARD_ERROR)
        ]
        mean, deviation = fmean(relative_errors), stdev(relative_errors)
        figures = f"{100 * mean:+.2f} % | {100 * deviation:.2f} % | {100 * max(sizes):.2f} %"
        print(f"| {visitors:,} | {figures} | {100 * shares[0]:.0f} % | {100 * shares[1]:.0f} % |")


if __name__ == "__main__":
    main()
