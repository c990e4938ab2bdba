"""Count the views of a web server's log as the site would have, in a temporary store.

    python -m bench.replay_views access.tsv.gz

The log has tab-separated values, optionally compressed with gzip; its first line names the columns, among them ts
(Unix seconds), visitor and path. Each path is an article. The site's own store is not used. Exits with 1 if the
counts differ from those of --truth.
"""

import argparse
import gzip
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

REPEAT_OF_TRUTH = 600
"""Seconds after which a visitor's next view counts in the files of exact counts."""

TOLERANCE = 3 * 1.04 / 16384**0.5
"""Three standard errors of a HyperLogLog: 2.44 %. Of small counts, one visitor is tolerated."""

_PER_BATCH = 2000
_NEWEST = 10_000_000_000  # seconds, in the year 2286: a later time is in milliseconds


class View(NamedTuple):
    """A line of a log. `at` in Unix seconds."""

    at: float
    visitor: str
    path: str
    agent: str


class PathCount(NamedTuple):
    """Counts of one path. `throttled`: views too soon after the same visitor's last counted one."""

    path: str
    pv: int = 0
    uv: int = 0
    throttled: int = 0


def read_log(path: Path) -> tuple[list[View], list[int]]:
    """Return the views, ordered by time, and the numbers of the lines that are none."""
    with gzip.open(path, "rt", errors="replace") if path.suffix == ".gz" else path.open(errors="replace") as lines:
        columns = next(lines, "").removeprefix("\ufeff").split()
        if missing := {"ts", "visitor", "path"} - set(columns):
            raise SystemExit(f"The first line names no column {min(missing)}: ts, visitor and path are required.")
        views, bad = [], []
        for number, line in enumerate(lines, 2):
            cells = dict(zip(columns, line.rstrip("\r\n").split("\t"), strict=False))
            try:
                view = View(
                    float(cells["ts"]), cells["visitor"], cells["path"].partition("?")[0], cells.get("ua", "")
                )
            except (KeyError, ValueError):
                view = View(-1, "", "", "")
            if 0 <= view.at <= _NEWEST and view.visitor and view.path:
                views.append(view)
            elif line.strip():
                bad.append(number)
    return sorted(views, key=lambda view: view.at), bad


def count(repository: Any, views: list[View], *, bots: bool) -> tuple[list[PathCount], int]:
    """Record the views, each at its own time; return the counts, most viewed first, and how many were bots'."""
    from articles.domain.articles import ImportedArticle
    from articles.domain.members import UNKNOWN_POSTER
    from articles.domain.readership import REPEAT, Suspicion, Visit
    from articles.web.readership.record import suspicion_of

    def article(number: int, path: str) -> ImportedArticle:
        link = f"https://log.invalid/{number}"
        return ImportedArticle(path, link, UNKNOWN_POSTER, "", first[path], votes=0, opposes=0)

    def visit(view: View) -> Visit:
        digest = blake2b(view.visitor.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        agent = "" if view.agent == "-" else view.agent
        return Visit(digest, suspicion=suspicion_of({"User-Agent": agent}) if bots else None)

    first = {view.path: view.at for view in reversed(views)}
    ids: dict[str, int] = {}
    paths = [*first]
    for at in range(0, len(paths), _PER_BATCH):
        batch = paths[at : at + _PER_BATCH]
        added = repository.imports.add([article(at + n, path) for n, path in enumerate(batch)])
        ids |= dict(zip(batch, added, strict=True))
    reasons = Counter[tuple[str, str | None]]()
    for at in range(0, len(views), _PER_BATCH):
        some = views[at : at + _PER_BATCH]
        counts = repository.pageviews.record_many([(ids[one.path], visit(one), one.at) for one in some])
        reasons.update(
            (view.path, one.reason if one else "missing") for view, one in zip(some, counts, strict=True)
        )
    read = {article.id: article for article in repository.imports.iterate()}
    found = [PathCount(path, read[n].pv, read[n].uv, reasons[path, REPEAT]) for path, n in ids.items()]
    of_bots = sum(number for (_, reason), number in reasons.items() if reason == Suspicion.BOT)
    return sorted(found, key=lambda one: (-one.pv, one.path)), of_bots


def report(views: list[View], bad: list[int], counts: list[PathCount], bots: int, top: int) -> Iterator[str]:
    """Yield the lines to print."""
    yield f"{'PV':>9}  {'UV':>9}  {'throttled':>9}  path"
    for one in counts[:top]:
        yield f"{one.pv:>9,}  {one.uv:>9,}  {one.throttled:>9,}  {printable(one.path)}"
    if len(counts) > top:
        yield f"… and {len(counts) - top:,} more paths"
    counted, throttled = sum(one.pv for one in counts), sum(one.throttled for one in counts)
    yield f"{len(views):,} views of {len(counts):,} paths: {counted:,} counted, {throttled:,} throttled."
    if bots:
        yield f"{bots:,} views by bots were counted separately."
    if bad:
        yield f"{len(bad):,} invalid lines: {', '.join(map(str, bad[:10]))}{', …' if len(bad) > 10 else ''}."


def differences(truth: Any, views: list[View], counts: list[PathCount]) -> Iterator[str]:
    """Yield what differs from exact counts."""
    by_path = {one.path: one for one in counts}
    for found, true, what in ((len(views), truth["total_pv"], "views"), (len(counts), truth["paths"], "paths")):
        if found != true:
            yield f"{found:,} {what}, not {true:,}"
    for row in truth["top"]:
        one = by_path.get(row["path"], PathCount(row["path"]))
        if one.pv != row["pv_dedup600"]:
            yield f"{printable(one.path)}: PV {one.pv:,}, not {row['pv_dedup600']:,}"
        if abs(one.uv - row["uv"]) > max(TOLERANCE * row["uv"], 1):
            yield f"{printable(one.path)}: UV {one.uv:,}, not {row['uv']:,} ± {TOLERANCE:.2%}"


def printable(text: str) -> str:
    """Return untrusted text for a terminal, with control characters escaped."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--top", type=int, default=20, help="paths to print, most viewed first (20)")
    parser.add_argument("--truth", type=Path, help="JSON file of exact counts, with a limit of 600 s")
    parser.add_argument(
        "--bots", action="store_true", help="count bots separately, by the column ua, as the site does"
    )
    options = parser.parse_args()
    if options.truth and options.bots:
        parser.error("The exact counts include bots: use --truth or --bots, not both.")
    truth = json.loads(options.truth.read_text("utf-8")) if options.truth else None
    views, bad = read_log(options.file)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "voting_site.settings")
    import django

    django.setup()
    from articles.repository import connect
    from articles.web.wiring import kept_html, rules
    from voting_site.embedded import open_store

    counting = replace(rules(), view_repeat=REPEAT_OF_TRUTH) if truth else rules()
    end = views[-1].at if views else 0.0
    with (
        tempfile.TemporaryDirectory(prefix="replay-") as folder,
        open_store(Path(folder), config={"appendonly": "no"}) as url,
    ):
        repository = connect(url, rules=counting, kept_html=kept_html(), clock=lambda: end)
        repository.prepare()
        counts, bots = count(repository, views, bots=options.bots)
    for line in report(views, bad, counts, bots, options.top):
        print(line)
    if truth:
        found = list(differences(truth, views, counts))
        for line in found:
            print(f"Differs: {line}")
        if found:
            sys.exit(1)
        print(f"All {len(truth['top']):,} paths in {options.truth} match.")


if __name__ == "__main__":
    main()
