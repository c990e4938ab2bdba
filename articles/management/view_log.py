"""Read a log of page views, and a file of exact counts to compare a replay with."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from articles.management.importing import ArticleFile

REPEAT_OF_TRUTH = 600
"""Seconds after which a visitor's next view counts in the files of exact counts."""

TOLERANCE = 3 * 1.04 / math.sqrt(16384)
"""Three standard errors of a HyperLogLog: 2.44 %."""

_LEAST_TOLERANCE = 1
"""Visitors. For small counts, a single visitor exceeds three standard errors."""

_NO_AGENT = "-"
"""Placeholder that web servers log for a request without a user agent."""

_NEEDED = ("ts", "visitor", "path")
_AGENT = "ua"
_NEWEST = 10_000_000_000  # seconds, in the year 2286: a later time is in milliseconds


class BadLog(Exception):
    """The log or the file of exact counts is invalid; the message is one sentence for the operator."""


class LoggedView(NamedTuple):
    """One line of a log. `at` in Unix seconds."""

    at: float
    visitor: str
    path: str
    agent: str


@dataclass(slots=True)
class Log:
    """The views of a log ordered by time, and the numbers of invalid lines.

    `names_agents`: whether the log has a column of user agents.
    """

    views: list[LoggedView] = field(default_factory=list)
    bad_lines: list[int] = field(default_factory=list)
    names_agents: bool = False


@dataclass(slots=True)
class PathCount:
    """Counts of one path. `throttled`: views too soon after the same visitor's last counted one."""

    path: str
    pv: int = 0
    uv: int = 0
    throttled: int = 0


def read_log(source: ArticleFile) -> Log:
    """Read a log of tab-separated values whose first line names the columns. Raises BadLog, DamagedFile."""
    log, lines = Log(), source.lines()
    columns = _columns(next(lines, (0, b""))[1])
    log.names_agents = _AGENT in columns
    for number, line in lines:
        if not line.strip():
            continue
        if view := _view(line, columns):
            log.views.append(view)
        else:
            log.bad_lines.append(number)
    log.views.sort(key=lambda view: view.at)
    return log


def _columns(line: bytes) -> dict[str, int]:
    names = line.decode("utf-8", "replace").strip().split("\t")
    if missing := [name for name in _NEEDED if name not in names]:
        raise BadLog(f"The first line names no column {missing[0]}: ts, visitor and path are required.")
    return {name: at for at, name in enumerate(names)}


def _view(line: bytes, columns: dict[str, int]) -> LoggedView | None:
    """Return the view of a line; None if its time, visitor or path is missing or invalid."""
    cells = line.decode("utf-8", "replace").rstrip("\r\n").split("\t")

    def cell(name: str) -> str:
        at = columns.get(name, len(cells))
        return cells[at] if at < len(cells) else ""

    try:
        at = float(cell("ts"))
    except ValueError:
        return None
    visitor, path = cell("visitor"), cell("path").partition("?")[0]
    if not 0 <= at <= _NEWEST or not visitor or not path:
        return None
    agent = cell(_AGENT)
    return LoggedView(at, visitor, path, "" if agent == _NO_AGENT else agent)


@dataclass(frozen=True, slots=True)
class Truth:
    """Exact counts of a log: views, paths, and for some paths the counted views and the visitors."""

    views: int
    paths: int
    counts: dict[str, tuple[int, int]]

    def differences(self, views: int, counts: list[PathCount]) -> Iterator[str]:
        """Yield the differences of a replay. Visitors may differ by three standard errors, or by one."""
        if views != self.views:
            yield f"{views:,} views, not {self.views:,}"
        if len(counts) != self.paths:
            yield f"{len(counts):,} paths, not {self.paths:,}"
        by_path = {count.path: count for count in counts}
        for path, (pv, uv) in self.counts.items():
            count = by_path.get(path, PathCount(path))
            if count.pv != pv:
                yield f"{printable(path)}: PV {count.pv:,}, not {pv:,}"
            if abs(count.uv - uv) > max(TOLERANCE * uv, _LEAST_TOLERANCE):
                yield f"{printable(path)}: UV {count.uv:,}, not {uv:,} ± {TOLERANCE:.2%}"


def read_truth(path: str) -> Truth:
    """Read a JSON file of exact counts. Raises BadLog, OSError."""
    try:
        fields: Any = json.loads(Path(path).read_text("utf-8"))
        counts = {row["path"]: (int(row["pv_dedup600"]), int(row["uv"])) for row in fields["top"]}
        return Truth(int(fields["total_pv"]), int(fields["paths"]), counts)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadLog(f"{path} is not a file of exact counts: {type(error).__name__}: {error}") from error


def printable(text: str) -> str:
    """Return untrusted text for a terminal, with control characters escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def first_seen(views: list[LoggedView]) -> dict[str, float]:
    """Return the time of each path's first view."""
    times: dict[str, float] = {}
    for view in views:
        times.setdefault(view.path, view.at)
    return times


def tally(views: list[LoggedView], reasons: list[str | None]) -> dict[str, Counter[str | None]]:
    """Return by path how many views were not counted for each reason; the reason None means counted."""
    tallies: dict[str, Counter[str | None]] = {}
    for view, reason in zip(views, reasons, strict=True):
        tallies.setdefault(view.path, Counter())[reason] += 1
    return tallies
