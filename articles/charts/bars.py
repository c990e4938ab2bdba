"""Stacked bars: counts by kind, one stack per day."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from articles.charts.shapes import HEIGHT, Bar, Chart, Label, Line, Plot, plain
from articles.charts.ticks import nice_ticks


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
    plot = Plot(
        (0, len(columns)), [(value, value_label(value)) for value in nice_ticks(0, highest, whole=True)], HEIGHT
    )
    return Chart(
        HEIGHT,
        plot.left,
        plot.right,
        plot.baseline,
        plot.x_ticks((n + 0.5, label) for n, label in enumerate(columns)),
        plot.y_ticks,
        tuple(kind.name for kind in series),
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
