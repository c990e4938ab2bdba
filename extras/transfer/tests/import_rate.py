"""Rate of importing, auditing, repairing and exporting articles, in a temporary store with its real settings.

    python -m extras.transfer.tests.import_rate [FILE] [--articles N] [--directory DIR]

FILE is in the format of `manage.py import_articles`; by default, N generated articles (100,000). The temporary
data directory is created in DIR, which should be on the disk to measure. The bare view of bench/site is measured
before and after, with wrk.
"""

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.site.cases import HELLO
from bench.site.load import send
from bench.site.processes import ROOT
from bench.site.report import publishing
from bench.site.report.table import markdown
from bench.site.servers import workers
from bench.site.usage import addition_seconds

WORDS = ("redis", "python", "数据库", "web", "vote", "list", "group", "fast", "cache", "rank", "page", "time")


def rows(count: int, newest: float) -> Iterator[str]:
    """Generate articles, ten minutes apart, as lines of JSON."""
    rng = random.Random(1)
    for n in range(count):
        title = f"{n} " + " ".join(rng.choices(WORDS, k=7))
        row = {
            "title": title,
            "link": f"https://site{n % 997}.example/articles/{n}?page={n % 7}",
            "poster": f"poster{rng.randrange(count // 15 + 1)}",
            "time": newest - 600 * (count - n),
            "votes": int(rng.paretovariate(1.1)),
            "groups": rng.sample(WORDS, k=rng.choice((1, 1, 1, 2, 3))),
        }
        yield json.dumps(row, ensure_ascii=False)


def timed(data_dir: Path, *command: str) -> float:
    """Return the seconds that a command takes, including its start and the store's."""
    environment = os.environ | {"DATA_DIR": str(data_dir), "LOG_LEVEL": "WARNING", "REDIS_URL": ""}
    began = time.perf_counter()
    subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, env=environment, check=True)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--articles", type=int, default=100_000)
    parser.add_argument("--directory", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        data_dir, source = Path(folder) / "data", options.file
        if source is None:
            source = Path(folder) / "generated.jsonl"
            source.write_text("\n".join(rows(options.articles, time.time())), "utf-8")
        measure(data_dir, source.resolve())


def measure(data_dir: Path, source: Path) -> None:
    before, hello = addition_seconds(), bare_rate(data_dir.parent)
    timed(data_dir, "migrate", "--skip-checks", "--verbosity", "0")
    commands = {
        "import": ("import_articles", str(source), "--unescape"),
        "import again": ("import_articles", str(source), "--unescape"),
        "audit": ("audit",),
        "repair": ("repair",),
        "export": ("export_articles", str(data_dir / "export.jsonl.gz")),
    }
    took = {name: timed(data_dir, *command) for name, command in commands.items()}
    with gzip.open(data_dir / "export.jsonl.gz") as export:
        articles = sum(1 for _ in export)
    after, hello = addition_seconds(), (hello + bare_rate(data_dir.parent)) / 2
    of_machine = (before + after) / 2
    rows = [
        [
            f"`{name}`",
            f"{seconds / of_machine:.1f}",
            f"{articles / seconds / hello:#.3g}",
            f"{seconds:.1f}",
            f"{articles / seconds:,.0f}",
        ]
        for name, seconds in took.items()
    ]
    columns = [
        "command",
        "time × 20 million additions",
        "articles a second × hello",
        "seconds",
        "articles a second",
    ]
    conditions = f"{articles:,} articles; hello answers {hello:,.0f} requests a second.\n"
    publishing.publish("imports", [publishing.machine(before, after), conditions, markdown(columns, rows)])


def bare_rate(folder: Path) -> float:
    """Return the requests a second that a bare view answers."""
    with workers("bench.site.peers.hello", folder) as server:
        return send(server.port, HELLO, 3, 0).rate


if __name__ == "__main__":
    main()
