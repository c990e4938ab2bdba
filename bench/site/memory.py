"""The memory of the site's processes during minutes of mixed load: python -m bench.site.memory [--minutes 10]

All pages of the other measurements take turns, at random, as fast as they are answered. Prints a table; can be
interrupted: everything that it starts ends with it.
"""

import argparse
import random
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from tqdm import tqdm

from bench.site.cases import Case, cases
from bench.site.contenders import filled
from bench.site.load import send
from bench.site.processes import end_on_signals
from bench.site.servers import Server, site
from bench.site.usage import memory_bytes, store_counters

_SLICE_SECONDS = 15
"""Between two looks at the memory."""

_EACH = 2_000
"""Requests of each page that are mixed; fewer are repeated."""


def mixed(all_cases: list[Case]) -> Case:
    """Return the requests of all cases, as many of each, in a random order."""
    requests = [case.requests[n % len(case.requests)] for case in all_cases for n in range(_EACH)]
    random.Random(3).shuffle(requests)
    return Case("mixed", requests)


def measure(server: Server, case: Case, minutes: float) -> list[str]:
    """Send the requests for some minutes; return a table of requests and memory in Markdown."""
    lines = ["| minute | requests | failures | web, MB | store, MB |", "| ---: | ---: | ---: | ---: | ---: |"]
    began, sent, failures = time.monotonic(), 0, 0
    with tqdm(total=round(60 * minutes), unit="s", leave=False) as bar:
        while (passed := time.monotonic() - began) < 60 * minutes:
            load = send(server.port, case, _SLICE_SECONDS, sent % len(case.requests))
            sent, failures = sent + load.requests, failures + load.failures
            bar.update(_SLICE_SECONDS)
            web, store = memory_bytes(server.web()), store_counters(server.client).memory_bytes
            lines.append(f"| {passed / 60:.1f} | {sent:,} | {failures} | {web / 1e6:.0f} | {store / 1e6:.1f} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=int, default=10_000)
    parser.add_argument("--minutes", type=float, default=10)
    options = parser.parse_args()
    end_on_signals()
    with ExitStack() as stack:
        data_dir = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-"))) / "site"
        content = filled(data_dir, options.articles)
        server = stack.enter_context(site(data_dir))
        print("\n".join(measure(server, mixed(cases(content)), options.minutes)))


if __name__ == "__main__":
    main()
