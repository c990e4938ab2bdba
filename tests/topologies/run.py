"""Run what starts several servers, then the tests of the repository, the pages, the API and the ballot records on
one topology after another, and print a summary.

    python -m tests.topologies.run [all|short] [TOPOLOGY …] [--named WORDS]

`short`: a selection on the topologies of several servers.
"""

import argparse
import os
import re
import subprocess
import sys
import time

from tests.topologies import of_this_run

STORE, SITE = ["tests/repository"], ["tests/pages", "tests/api", "tests/ballots"]

MAIN_OF_STORE = [f"tests/repository/test_{noun}.py" for noun in ("votes", "articles", "lists", "search", "hot")]
MAIN_OF_SITE = [f"tests/{path}.py" for path in ("pages/test_lists", "pages/test_votes", "api/test_votes")]
MAIN = [*MAIN_OF_STORE, *MAIN_OF_SITE, "tests/ballots/test_records.py"]

OVER_SHARDS = [
    f"tests/repository/test_{noun}.py" for noun in ("gathering", "ballots", "audit", "repair", "parameters")
]
"""What depends most on where things are."""

ALL = {
    of_this_run.ONE_SHARD: [*STORE, "tests/archive"],
    "redis": [*STORE, *SITE],
    "valkey": [*STORE, *SITE],
    "sentinel": [*STORE, *SITE],
    "cluster": [*STORE, *SITE],
    "postgres": SITE,
}
SHORT = {of_this_run.ONE_SHARD: [*MAIN_OF_STORE, *OVER_SHARDS], "sentinel": MAIN, "cluster": [*MAIN, *OVER_SHARDS]}

USUAL = "not large and not chaos and not fuzz and not topology and not browser"

CHOSEN = {of_this_run.ONE_SHARD: f"{USUAL} and not hostile and not one_shard"}
"""Marks of the tests to run on a topology, where `make test` runs some of the usual ones there."""


def run(name: str, *arguments: str) -> tuple[int, str]:
    """Run these tests on a topology; return the status, and a line of the summary."""
    print(f"\n== {name}", flush=True)  # noqa: T201 - what the operator waits for
    began, last = time.monotonic(), ""
    command = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "worksteal", "-rsfE", *arguments]
    with subprocess.Popen(
        command, env=dict(os.environ, TOPOLOGY=name), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        for line in process.stdout:
            print(line, end="", flush=True)  # noqa: T201
            last = line if re.search(r"\d+ (?:passed|failed|skipped|error|deselected)", line) else last
    counts = ", ".join(re.findall(r"\d+ (?:passed|failed|skipped|errors?)", last)) or "no test ran"
    return process.returncode, f"{name:10} {counts:45} {time.monotonic() - began:4.0f} s"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("selection", choices=["all", "short"])
    parser.add_argument("topologies", nargs="*", choices=[[], *ALL])
    parser.add_argument("--named", default="")
    options = parser.parse_args()
    selection = ALL if options.selection == "all" else SHORT
    chosen = ["--named", options.named] if options.named else []
    results = [
        run(name, "-m", CHOSEN.get(name, USUAL), *chosen, *paths)
        for name, paths in selection.items()
        if name in (options.topologies or selection)
    ]
    if not options.topologies:
        several = "topology or nodes" if options.selection == "all" else "nodes and not topology"
        results.insert(0, run("embedded", "-m", several, "tests"))
    print("\n" + "\n".join(line for _, line in results))  # noqa: T201
    return int(any(status for status, _ in results))


if __name__ == "__main__":
    sys.exit(main())
