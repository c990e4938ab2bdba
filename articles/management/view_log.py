"""A log of page views, and what is known to be true of one."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from articles.management.article_file import ArticleFile

REPEAT_OF_TRUTH = 600
"""Seconds after which a visitor's next view counts, in files of what is true."""

TOLERANCE = 3 * 1.04 / math.sqrt(16384)
"""Three standard errors of a HyperLogLog: 2.44 %."""

_LEAST_TOLERANCE = 1
"""Visitors: of few, a single one is more than three standard errors."""

_NO_AGENT = "-"
"""How web servers log a request without a user agent."""

_NEEDED = ("ts", "visitor", "path")
_AGENT = "ua"
_NEWEST = 10_000_000_000  # seconds, in the year 2286: a later time is in milliseconds


class BadLog(Exception):
    """Not such a log, or not such a truth; the message is one sentence for the operator."""


class LoggedView(NamedTuple):
    """One line of a log. `at` in Unix seconds."""

    at: float
    visitor: str
    path: str
    agent: str


@dataclass(slots=True)
class Log:
    """The views of a log in the order of their time, and the lines that are none.

    `names_agents`: whether it has a column of user agents.
    """

    views: list[LoggedView] = field(default_factory=list)
    bad_lines: list[int] = field(default_factory=list)
    names_agents: bool = False


@dataclass(slots=True)
class PathCount:
    """What was counted of one path. `throttled`: views that came too soon after the visitor's last."""

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
        raise BadLog(f"The first line names no column {missing[0]}: it has to name ts, visitor and path at least.")
    return {name: at for at, name in enumerate(names)}


def _view(line: bytes, columns: dict[str, int]) -> LoggedView | None:
    """The view of a line; None where its time, its visitor or its path is missing."""
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
    """What is known of a log: views, paths, and of some paths the views that count and the visitors."""

    views: int
    paths: int
    counts: dict[str, tuple[int, int]]

    def differences(self, views: int, found: list[PathCount]) -> Iterator[str]:
        """Where a replay differs: views at all, visitors by more than three standard errors and more than one."""
        if views != self.views:
            yield f"{views:,} views, not {self.views:,}"
        if len(found) != self.paths:
            yield f"{len(found):,} paths, not {self.paths:,}"
        by_path = {count.path: count for count in found}
        for path, (pv, uv) in self.counts.items():
            count = by_path.get(path, PathCount(path))
            if count.pv != pv:
                yield f"{printable(path)}: PV {count.pv:,}, not {pv:,}"
            if abs(count.uv - uv) > max(TOLERANCE * uv, _LEAST_TOLERANCE):
                yield f"{printable(path)}: UV {count.uv:,}, not {uv:,} ± {TOLERANCE:.2%}"


def read_truth(path: str) -> Truth:
    """Raises BadLog, OSError."""
    try:
        told: Any = json.loads(Path(path).read_text("utf-8"))
        counts = {row["path"]: (int(row["pv_dedup600"]), int(row["uv"])) for row in told["top"]}
        return Truth(int(told["total_pv"]), int(told["paths"]), counts)
    except (ValueError, KeyError, TypeError) as error:
        raise BadLog(f"{path} does not say what is true of a log: {type(error).__name__}: {error}") from error


def printable(text: str) -> str:
    """Text of strangers for a terminal, with control characters escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def first_seen(views: list[LoggedView]) -> dict[str, float]:
    """Each path with the time of its first view."""
    found: dict[str, float] = {}
    for view in views:
        found.setdefault(view.path, view.at)
    return found


def tally(views: list[LoggedView], reasons: list[str | None]) -> dict[str, Counter[str | None]]:
    """By path: how many views came to what; None counts."""
    found: dict[str, Counter[str | None]] = {}
    for view, reason in zip(views, reasons, strict=True):
        found.setdefault(view.path, Counter())[reason] += 1
    return found
