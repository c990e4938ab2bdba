"""Measure the whole site beside its peers: python -m bench.site [--articles 1000,10000,100000] [--rounds 5]

Prints tables, and writes them to bench/results/. docs/performance.md says what they mean. Can be interrupted:
everything that it starts ends with it.
"""

import argparse
import re
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from bench.site.contenders import Contenders
from bench.site.figures import figures
from bench.site.processes import end_on_signals
from bench.site.report import publishing, table
from bench.site.runs import Rounds, warm_up
from bench.site.usage import addition_seconds


def measure(folder: Path, options: argparse.Namespace) -> None:
    """Start everything, measure it in turns, and publish the results."""
    before = addition_seconds()
    with ExitStack() as stack:
        contenders = Contenders(stack, folder, options.articles, options.pages, options.peers)
        began = time.monotonic()
        contenders.start()
        # What the peers take once, to be installed and filled, does not count.
        deadline = 60 * options.minutes + (time.monotonic() if options.peers else began)
        warm_up(contenders.servers)
        runs = Rounds(contenders.bare, contenders.servers, options.rounds, options.seconds).run(deadline)
        results = {contender: figures(of) for contender, of in runs.items()}
        contenders.check_votes(results)
    sections = [publishing.conditions(results, options.seconds, contenders.skipped), table.all_figures(results)]
    if not options.peers:
        sections += [table.by_size(results)] if len(contenders.sizes) > 1 else []
        sections += [publishing.sites(contenders.sites, results)]
    sections.insert(0, publishing.machine(before, addition_seconds()))
    publishing.publish("peers" if options.peers else "site", sections)


def sizes(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def names(text: str) -> list[str]:
    """Return the names between commas; a comma before a blank belongs to a name, as in "front page, member"."""
    return [name.strip() for name in re.split(",(?! )", text) if name.strip()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--articles", type=sizes, default="1000,10000,100000", help="of each site (%(default)s)")
    parser.add_argument("--pages", type=names, default="", help="measure only these, such as: feed,vote")
    parser.add_argument("--peers", action="store_true", help="beside sites that others wrote, which are installed")
    parser.add_argument("--rounds", type=int, help="runs of each server and page (5; 3 beside others)")
    parser.add_argument("--seconds", type=int, help="length of a run (2; 8 beside others, which are slower)")
    parser.add_argument(
        "--minutes", type=float, default=12, help="no round begins that would end later (%(default)g)"
    )
    options = parser.parse_args()
    options.seconds = options.seconds or (8 if options.peers else 2)
    options.rounds = options.rounds or (3 if options.peers else 5)
    end_on_signals()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        measure(Path(folder), options)


if __name__ == "__main__":
    main()
