"""Measure the whole site beside its peers: python -m bench.site [--articles 1000,10000,100000] [--rounds 5]

Prints tables, and writes them with charts to bench/results/. docs/performance.md says what they mean. Can be
interrupted: everything that it starts ends with it.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from bench.orm_peer import server as orm_server
from bench.site import report, table
from bench.site.cases import HELLO, cases
from bench.site.content import Content
from bench.site.figures import figures
from bench.site.peers import nginx, seeds
from bench.site.processes import ROOT, end_on_signals, environment
from bench.site.runs import Contender, Rounds, warm_up
from bench.site.servers import Server, site, workers

AT_EACH_SIZE = (
    *("front page, member", "group page, member", "hot list, member"),
    *("article page, member", "search", "vote"),
)
"""Pages measured with each number of articles; the others only with the one in the middle."""

PUBLIC = ("front page", "feed")
"""Of the pages that a cache before the site may share among readers, those that are measured with one."""

IN_ORM = ("front page", "front page, member", "article page", "article page, member", "vote")
"""Pages that the peer with Django's ORM has."""

IN_PROCESS_SECONDS = 60.0
"""Time that is left for the measurements in this process, which come last."""

MOST_IN_PROCESS = 10_000
"""Articles of these measurements."""


def filled(data_dir: Path, articles: int) -> Content:
    """Fill a new site in a process of its own, and return what requests need to know of it."""
    command = [sys.executable, "-m", "bench.site.content", str(articles)]
    variables = environment({"DATA_DIR": str(data_dir), "LOG_LEVEL": "ERROR"})
    done = subprocess.run(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, check=True)
    return Content(**json.loads(done.stdout))


def of_site(server: Server, content: Content, names: tuple[str, ...]) -> dict[Contender, Server]:
    """Return the cases of a site with these names; all of them if there are none."""
    chosen = [case for case in cases(content) if not names or case.name in names]
    return {Contender("site", case, content.articles): server for case in chosen}


def measure(folder: Path, options: argparse.Namespace) -> None:
    """Start everything, measure it in turns, and publish the results."""
    deadline = time.monotonic() + 60 * options.minutes - IN_PROCESS_SECONDS
    servers: dict[int, tuple[Server, Content]] = {}
    with ExitStack() as stack:
        hello = stack.enter_context(workers("bench.site.peers.hello", folder))
        for size in sorted(options.articles):
            content = filled(folder / str(size), size)
            servers[size] = stack.enter_context(site(folder / str(size))), content
        bare = Contender(table.HELLO, HELLO, 0)
        contenders = {bare: hello}
        middle = sorted(servers)[(len(servers) - 1) // 2]
        for size, (server, content) in servers.items():
            contenders |= of_site(server, content, () if size == middle else AT_EACH_SIZE)
        added = [add(stack, folder, contenders, *servers[middle]) for add in (add_nginx, add_orm_peer)]
        skipped = [reason for reason in added if reason]
        warm_up(contenders)
        runs = Rounds(bare, contenders, options.rounds, options.seconds).run(deadline)
    results = {contender: figures(of) for contender, of in runs.items()}
    report.publish(
        [
            report.conditions(results, options.seconds, skipped),
            table.all_figures(results),
            table.by_size(results),
            report.sites(servers, results),
            seeds.measure(min(middle, MOST_IN_PROCESS)),
        ],
        results,
    )


def add_nginx(
    stack: ExitStack, folder: Path, contenders: dict[Contender, Server], server: Server, content: Content
) -> str:
    """Add nginx with a static page, and with a cache before the site; return why not, if it cannot be measured."""
    if reason := nginx.missing():
        return reason
    static, cache = stack.enter_context(nginx.nginx(folder / "nginx", server))
    front = cases(content)[0]
    contenders[Contender("nginx, static file", front, content.articles)] = static
    for case in cases(content):
        if case.name in PUBLIC:
            contenders[Contender("nginx before the site", case, content.articles)] = cache
    return ""


def add_orm_peer(
    stack: ExitStack, folder: Path, contenders: dict[Contender, Server], _server: Server, content: Content
) -> str:
    """Add the same pages with Django's ORM on PostgreSQL; return why not, if they cannot be measured."""
    if reason := orm_server.missing():
        return reason
    data_dir = folder / str(content.articles)
    server, own = stack.enter_context(orm_server.orm_peer(folder, data_dir, content.articles))
    chosen = [case for case in cases(own) if case.name in IN_ORM]
    contenders |= {Contender("ORM on PostgreSQL", case, content.articles): server for case in chosen}
    return ""


def sizes(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--articles", type=lambda text: [int(n) for n in text.split(",")], default=[1000, 10_000, 100_000]
    )
    parser.add_argument("--rounds", type=int, default=5, help="runs of each server and page (5)")
    parser.add_argument("--seconds", type=int, default=2, help="length of a run (2)")
    parser.add_argument("--minutes", type=float, default=10, help="no round begins that would end later (10)")
    options = parser.parse_args()
    end_on_signals()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        measure(Path(folder), options)


if __name__ == "__main__":
    main()
