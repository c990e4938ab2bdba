"""How light the site is on the machine: python -m bench.light [--beside PATH] [--rounds 1]

Starts a new site as `make run` does, on new data and then again, and prints memory, CPU time and seconds. With
`--beside`, another checkout with its own .venv is measured in turns. Linux only; two minutes for each checkout.
"""

import argparse
import statistics
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from bench.site.processes import ROOT, descendants, end_on_signals, free_port, running, wait_until
from bench.site.servers import answers
from bench.site.usage import cpu_seconds, memory_bytes

_AFTER_SECONDS = 10
_IDLE_SECONDS = 60
_READS = 3000

Row = tuple[str, float]


def measure(root: Path) -> Iterator[Row]:
    """Yield what a first and a later start of the checkout take, and an idle minute and many reads after it."""
    with tempfile.TemporaryDirectory(prefix="light-") as name:
        folder = Path(name)
        for start in ("first start", "later start"):
            port, log = free_port(), folder / "site.log"
            own = {"DATA_DIR": str(folder / "data"), "PORT": str(port), "LIMITS": "off"}
            own |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPATH": str(root)}
            command = [root / ".venv/bin/python", root / "manage.py", "run"]
            with running(command, log, own, folder=root) as launcher:
                yield f"{start}: s to the first page", wait_until(lambda at=port: answers(at), launcher, log)
                time.sleep(_AFTER_SECONDS)
                pids = descendants(launcher.pid)
                yield f"{start}: CPU s, to {_AFTER_SECONDS} s after it", cpu_seconds(pids)
                yield f"{start}: MB of all processes", memory_bytes(pids) / 1e6
                if start == "later start":
                    before = cpu_seconds(pids)
                    time.sleep(_IDLE_SECONDS)
                    yield "CPU s of an idle minute", cpu_seconds(descendants(launcher.pid)) - before
                    _read(port)
                    yield f"MB after {_READS:,} reads", memory_bytes(descendants(launcher.pid)) / 1e6


def _read(port: int) -> None:
    """Read lists and articles, as many readers would."""
    for number in range(_READS):
        path = ("/", "/newest/", "/hot/", f"/articles/{number % 40 + 1}/")[number % 4]
        with (
            suppress(urllib.error.HTTPError),
            urllib.request.urlopen(f"http://127.0.0.1:{port}{path}?page={number % 9 + 1}", timeout=10) as response,
        ):
            response.read()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--beside", type=Path, help="another checkout, with its own .venv")
    parser.add_argument(
        "--rounds", type=int, default=1, help="of each checkout; the medians are printed (%(default)s)"
    )
    options = parser.parse_args()
    end_on_signals()
    roots = [path.resolve() for path in (options.beside, ROOT) if path]
    rounds = [[dict(measure(root)) for root in roots] for _ in range(options.rounds)]
    print("| what |", " | ".join(root.name for root in roots), "|")
    print("| --- |", " | ".join("---:" for _ in roots), "|")
    for what in rounds[0][0]:
        print(
            f"| {what} |",
            " | ".join(f"{statistics.median(one[n][what] for one in rounds):.1f}" for n in range(len(roots))),
            "|",
        )


if __name__ == "__main__":
    main()
