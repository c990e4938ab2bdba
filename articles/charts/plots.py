"""Charts of a few kinds: stacked bars, curves of a function of time, and lines over a period of time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from math import isfinite

from articles.charts.shapes import (
    HEIGHT,
    LOW_HEIGHT,
    Bar,
    Chart,
    Label,
    Line,
    Plot,
    Run,
    hour_ticks,
    nice_ticks,
    plain,
    runs,
    time_ticks,
)


@dataclass(frozen=True, slots=True)
class Series:
    """Counts of one kind, one per column: a part of each stack or, if `marked`, a line with dots above them."""

    name: str
    values: Sequence[int]
    marked: bool = False
    adds_up: bool = True
    """Whether the sum over all columns is meaningful."""


def stacked_bars(columns: Sequence[str], series: Sequence[Series], *, value_label: Label = plain) -> Chart:
    """Return a chart of stacked counts (0 or more), the first series at the bottom. `columns`: labels, in order.

    Each row holds the column's label, then one value per series; `totals` are their sums. Without columns the
    chart is empty.
    """
    if not columns:
        return Chart(HEIGHT)
    stacks = [sum(kind.values[n] for kind in series if not kind.marked) for n in range(len(columns))]
    highest = max([*stacks, *(value for kind in series if kind.marked for value in kind.values)])
    plot = Plot((0, len(columns)), nice_ticks(0, highest, whole=True), value_label, HEIGHT)
    return plot.chart(
        ((n + 0.5, label) for n, label in enumerate(columns)),
        (kind.name for kind in series),
        lines=tuple(_line(plot, kind) for kind in series if kind.marked),
        bars=tuple(bar for n in range(len(columns)) for bar in _stack(plot, n, columns[n], series, value_label)),
        rows=tuple((label, *(value_label(kind.values[n]) for kind in series)) for n, label in enumerate(columns)),
        totals=tuple(value_label(sum(kind.values)) if kind.adds_up else "–" for kind in series),
    )


def _line(plot: Plot, series: Series) -> Line:
    run = [(n + 0.5, value) for n, value in enumerate(series.values)]
    return Line(series.name, plot.pieces([run]), marked=True)


def _stack(plot: Plot, n: int, column: str, series: Sequence[Series], value_label: Label) -> Iterator[Bar]:
    """Yield the bars of column `n` from the bottom up, without those of count 0."""
    left, right, below = plot.x(n + 0.14), plot.x(n + 0.86), 0
    for index, kind in enumerate(series):
        value = 0 if kind.marked else kind.values[n]
        if not value:
            continue
        low, high = plot.y(below), plot.y(below + value)
        yield Bar(left, high, round(right - left, 2), round(low - high, 2), index, column, value_label(value))
        below += value


_POINTS = 97
"""Points of each curve; they are denser at the start, where hotness falls steeply."""


def decay_curve(
    series: Sequence[tuple[str, Callable[[float], float]]],
    hours: float,
    *,
    hour_label: Label = plain,
    value_label: Label = plain,
) -> Chart:
    """Return a chart of named functions on one axis that begins at 0, for the next `hours` hours (more than 0).

    Each function takes hours from the start and returns a value, never negative; where the value is not finite,
    the curve has a gap. Each row holds the label of a round hour and the value of each series. Without series the
    chart is empty.
    """
    if not series:
        return Chart(HEIGHT)
    times = [hours * (n / (_POINTS - 1)) ** 2 for n in range(_POINTS)]
    curves = [[(at, function(at)) for at in times] for _, function in series]
    highest = max((value for curve in curves for _, value in curve if isfinite(value)), default=0.0)
    plot, ticks = Plot((0, hours), nice_ticks(0, highest), value_label, HEIGHT), hour_ticks(hours)
    names = [name for name, _ in series]
    finite = ([(at, value if isfinite(value) else None) for at, value in curve] for curve in curves)
    return plot.chart(
        ((at, hour_label(at)) for at in ticks),
        names,
        lines=tuple(
            Line(name, plot.pieces(runs(curve, hours))) for name, curve in zip(names, finite, strict=True)
        ),
        rows=tuple(
            (hour_label(at), *(_cell(function(at), value_label) for _, function in series)) for at in ticks
        ),
    )


def _cell(value: float, value_label: Label) -> str:
    return value_label(value) if isfinite(value) else "–"


@dataclass(frozen=True, slots=True)
class TimeLine:
    """A named line: times in Unix seconds, in order, each with a value, 0 or more; None if it is not known."""

    name: str
    values: Sequence[tuple[float, float | None]]


def time_lines(
    lines: Sequence[TimeLine],
    span: tuple[float, float],
    *,
    apart: float,
    whole: bool = False,
    zone: tzinfo = UTC,
    time_label: Label = plain,
    value_label: Label = plain,
) -> Chart:
    """Return a low chart of lines from the beginning to the end of `span`, on one axis that begins at 0.

    A line has a gap where a value is None, or two times are more than `apart` seconds from each other. The axis
    has round values, only integers if `whole`; times are labelled as in `history`. Without any
    value the chart is empty. It has no rows.
    """
    known = [value for line in lines for _, value in line.values if value is not None]
    if not known:
        return Chart(LOW_HEIGHT)
    plot = Plot(span, nice_ticks(0, max(known), most=3, whole=whole), value_label, LOW_HEIGHT)
    return plot.chart(
        ((at, time_label(at)) for at in time_ticks(*span, zone)),
        (line.name for line in lines),
        lines=tuple(Line(line.name, plot.pieces(map(_bends, runs(line.values, apart)))) for line in lines),
    )


def _bends(run: Run) -> Run:
    """Return the points of a run without those in the middle of a level part, which draw nothing."""
    ends = (0, len(run) - 1)
    return [at for n, at in enumerate(run) if n in ends or not run[n - 1][1] == at[1] == run[n + 1][1]]
