"""Replay a day of traffic at several sizes, and compute the machines for larger ones: python -m bench.load_model

    [--articles 1000,10000,100000] [--data FOLDER] [--core-price 20] [--gb-price 3] [--measured]

Prints tables, and writes them to bench/results/. docs/scaling.md says what they mean. Ends within ten minutes;
can be interrupted: everything that it starts ends with it. `--measured` uses the figures of an earlier run.
"""

import argparse
import tempfile
import time
from pathlib import Path

from bench.load_model import figures, report, simulation
from bench.load_model.day import read_day
from bench.load_model.plan import Machines
from bench.site.processes import end_on_signals
from bench.site.report.publishing import FOLDER

_AFTERWARDS = 30.0
"""Seconds for what comes after the last size."""


def sizes(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def options() -> argparse.Namespace:
    default = Machines()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--articles", type=sizes, default="1000,10000,100000", help="of each site (%(default)s)")
    parser.add_argument("--data", type=Path, help="folder with the data of which day.py has the figures")
    parser.add_argument("--requests", type=int, default=simulation.REQUESTS, help="of a day (%(default)s)")
    parser.add_argument("--core-price", type=float, default=default.core_price, help="$ a month (%(default)g)")
    parser.add_argument("--gb-price", type=float, default=default.gb_price, help="$ a month (%(default)g)")
    parser.add_argument(
        "--minutes", type=float, default=10, help="no size begins that would end later (%(default)g)"
    )
    parser.add_argument(
        "--measured", action="store_true", help="measure nothing: use the figures of measured.json"
    )
    return parser.parse_args()


def main() -> None:
    chosen = options()
    day = read_day(chosen.data)
    machines = Machines(core_price=chosen.core_price, gb_price=chosen.gb_price)
    if chosen.measured:
        print(report.everything(figures.load(), day, machines))
        return
    deadline = time.monotonic() + 60 * chosen.minutes - _AFTERWARDS
    end_on_signals()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        of = simulation.Options(chosen.articles, requests=chosen.requests)
        result = simulation.run(Path(folder), of, day, deadline)
    text = f"Day: {day.source}; busiest hour {day.peak:.2f} × the mean, exponent {day.exponent:.2f}.\n\n"
    text += report.everything(result, day, machines)
    FOLDER.mkdir(parents=True, exist_ok=True)
    figures.save(result, FOLDER / "load_model.json")
    (FOLDER / "load_model.md").write_text(text, "utf-8")
    print(f"\n{text}\nWritten to {FOLDER}/.")


if __name__ == "__main__":
    main()
