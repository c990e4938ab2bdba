#!/usr/bin/env python3
"""How far the estimate of unique visitors is from their number, with digests made like the site's.

    python -m bench.hyperloglog [--runs N]

Each run counts other visitors in a HyperLogLog of its own. 0.81 % is one standard error of an estimate, not a
bound: two runs of three are within it, and 99.7 of 100 within three of them (2.44 %).
"""

import argparse
import tempfile
from hashlib import blake2b
from pathlib import Path
from statistics import fmean, stdev

from tqdm import tqdm

from articles.repository.store.client import make_client
from voting_site.embedded import StorePaths, Supervisor

SIZES = (100, 1_000, 10_000, 100_000)
STANDARD_ERROR = 0.0081
AT_ONCE = 1000


def digest(visitor: str) -> str:
    """16 hex digits, made as `articles.readership.identity` makes them."""
    return blake2b(visitor.encode(), key=b"bench", digest_size=8).hexdigest()


def errors(client, size: int, runs: int) -> list[float]:
    """Relative errors of the estimates, one of each run."""
    found = []
    for run in tqdm(range(runs), desc=f"{size:,} visitors", leave=False):
        for at in range(0, size, AT_ONCE):
            client.pfadd("sketch", *(digest(f"{run}:{n}") for n in range(at, min(at + AT_ONCE, size))))
        found.append(client.pfcount("sketch") / size - 1)
        client.delete("sketch")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        paths = StorePaths(Path(folder))
        supervisor = Supervisor(paths, config={"appendfsync": "no"})
        supervisor.start(30)
        try:
            client = make_client(paths.url(0))
            rows = [(size, errors(client, size, options.runs)) for size in SIZES]
        finally:
            supervisor.stop()
    report(rows, options.runs)


def report(rows: list[tuple[int, list[float]]], runs: int) -> None:
    print(f"{runs} runs each")
    print("| visitors | mean error | standard deviation | largest error | within 0.81 % | within 2.44 % |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: |")
    for size, found in rows:
        sizes = [abs(error) for error in found]
        shares = [
            sum(error <= most for error in sizes) / runs for most in (STANDARD_ERROR, 3.012 * STANDARD_ERROR)
        ]
        told = f"{100 * fmean(found):+.2f} % | {100 * stdev(found):.2f} % | {100 * max(sizes):.2f} %"
        print(f"| {size:,} | {told} | {100 * shares[0]:.0f} % | {100 * shares[1]:.0f} % |")


if __name__ == "__main__":
    main()
