"""Charts of a few kinds: stacked bars, a function of time, lines over a period, an article's rank and points."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from itertools import pairwise
from math import isfinite

from articles.charts import shapes
from articles.charts.shapes import HEIGHT, LOW_HEIGHT, Bar, Chart, Label, Line, Plot, Run, nice_ticks, plain, runs


@dataclass(frozen=True, slots=True)
class Series:
    """Counts of one kind, one per column: a part of each stack or, if `marked`, a line with dots above them."""

    name: str
    values: Sequence[int]
    marked: bool = False
    adds_up: bool = True  # whether the sum over all columns is meaningful


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


_POINTS = 97  # points of each curve; they are denser at the start, where hotness falls steeply


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
    plot, ticks = Plot((0, hours), nice_ticks(0, highest), value_label, HEIGHT), shapes.hour_ticks(hours)
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
        ((at, time_label(at)) for at in shapes.time_ticks(*span, zone)),
        (line.name for line in lines),
        lines=tuple(Line(line.name, plot.pieces(map(_bends, runs(line.values, apart)))) for line in lines),
    )


def _bends(run: Run) -> Run:
    """Return the points of a run without those in the middle of a level part, which draw nothing."""
    ends = (0, len(run) - 1)
    return [at for n, at in enumerate(run) if n in ends or not run[n - 1][1] == at[1] == run[n + 1][1]]


APART = 1500.0
"""Seconds between two samples above which the line has a gap: with a sample every 600 s, two are missing."""

MOST_SHOWN = 40  # samples in the table; if there are more, it shows this many, evenly spaced

Sample = tuple[float, int | None, int | None]  # time (Unix seconds), rank (from 1; None: not ranked), points

_Values = Sequence[tuple[float, int | None]]


@dataclass(frozen=True, slots=True)
class History:
    """Two charts over the same time, and one table with time, rank and points.

    `rows` shows `shown` of the `samples`, and one row more for each gap.
    """

    rank: Chart
    points: Chart
    rows: tuple[tuple[str, str, str], ...] = ()
    samples: int = 0
    shown: int = 0

    @property
    def is_empty(self) -> bool:
        return not self.rows

    @property
    def is_thinned(self) -> bool:
        return self.shown < self.samples


def history(
    samples: Iterable[Sample],
    *,
    zone: tzinfo = UTC,
    time_label: Label = plain,
    when_label: Label = plain,
    value_label: Label = plain,
) -> History:
    """Return step charts of rank, 1 at the top, and points: a value holds until the next sample or gap.

    A gap is where samples are more than `APART` seconds apart, or a value is None. Samples come in any order, at
    most one per moment. `time_label` labels the axis, at round hours or midnights of `zone`, and `when_label` the
    table's rows, where a gap is a row of dashes; both take Unix seconds. Without samples the history is empty.
    """
    ordered = sorted(samples, key=lambda sample: sample[0])
    if not ordered:
        return History(Chart(LOW_HEIGHT), Chart(LOW_HEIGHT))
    end = ordered[-1][0]
    span = (min(ordered[0][0], end - 3600), end)
    places = [(at, time_label(at)) for at in shapes.time_ticks(*span, zone)]
    ranks = [(at, rank) for at, rank, _ in ordered]
    points = [(at, count) for at, _, count in ordered]
    return History(
        _steps(ranks, shapes.rank_ticks(max(_present(ranks), default=1))[::-1], span, places, value_label),
        _steps(points, _points_axis(points), span, places, value_label),
        tuple(_rows(ordered, when_label, value_label)),
        len(ordered),
        min(len(ordered), MOST_SHOWN),
    )


def _present(values: _Values) -> list[int]:
    return [value for _, value in values if value is not None]


def _points_axis(points: _Values) -> list[float]:
    counts = _present(points) or [0]
    return nice_ticks(min(counts), max(counts), most=3, whole=True)


def _steps(
    values: _Values,
    axis: Sequence[float],
    span: tuple[float, float],
    places: Iterable[tuple[float, str]],
    value_label: Label,
) -> Chart:
    if not _present(values):
        return Chart(LOW_HEIGHT)
    plot = Plot(span, axis, value_label, LOW_HEIGHT)
    return plot.chart(places, [""], lines=(Line("", plot.pieces(map(_corners, runs(values, APART)))),))


def _corners(run: Run) -> Run:
    """Return the corners of the steps through a run. Samples that change nothing have none."""
    corners = [run[0]]
    for at, value in run[1:]:
        if value != corners[-1][1]:
            corners += [(at, corners[-1][1]), (at, value)]
    if run[-1][0] > corners[-1][0]:
        corners.append(run[-1])
    return corners


def _rows(samples: Sequence[Sample], when_label: Label, value_label: Label) -> Iterator[tuple[str, str, str]]:
    """Yield the chosen samples and, between two of them, the first gap in time, if any."""

    def cell(value: int | None) -> str:
        return "–" if value is None else value_label(value)

    begin = 0
    for index in shapes.evenly(len(samples), MOST_SHOWN):
        for earlier, later in pairwise(samples[begin : index + 1]):
            if later[0] - earlier[0] > APART:
                yield f"{when_label(earlier[0])} – {when_label(later[0])}", "–", "–"
                break
        at, rank, points = samples[index]
        yield when_label(at), cell(rank), cell(points)
        begin = index
