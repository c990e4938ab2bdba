"""Counts by kind, one stack for each day."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from articles.charts.shapes import HEIGHT, Bar, Chart, Label, Line, Plot, plain
from articles.charts.ticks import nice_ticks


@dataclass(frozen=True, slots=True)
class Series:
    """Counts of one kind, one for each column: a part of the stacks, or (`marked`) a line with dots over them."""

    name: str
    values: Sequence[int]
    marked: bool = False
    adds_up: bool = True
    """Whether the sum over the columns means something."""


def stacked_bars(columns: Sequence[str], series: Sequence[Series], *, value_label: Label = plain) -> Chart:
    """Stacks of counts, never negative, the first series at the bottom. `columns`: their labels, in order.

    `rows`: the column's label, then one value for each series; `totals` adds them up. No columns make an empty
    chart.
    """
    if not columns:
        return Chart(HEIGHT)
    stacks = [sum(one.values[n] for one in series if not one.marked) for n in range(len(columns))]
    highest = max([*stacks, *(value for one in series if one.marked for value in one.values)])
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
        tuple(one.name for one in series),
        lines=tuple(_line(plot, one) for one in series if one.marked),
        bars=tuple(bar for n in range(len(columns)) for bar in _stack(plot, n, columns[n], series, value_label)),
        rows=tuple((label, *(value_label(one.values[n]) for one in series)) for n, label in enumerate(columns)),
        totals=tuple(value_label(sum(one.values)) if one.adds_up else "–" for one in series),
    )


def _line(plot: Plot, series: Series) -> Line:
    run = [(n + 0.5, value) for n, value in enumerate(series.values)]
    return Line(series.name, plot.pieces([run]), marked=True)


def _stack(plot: Plot, n: int, column: str, series: Sequence[Series], value_label: Label) -> Iterator[Bar]:
    """The parts of column `n` from the bottom up; a count of 0 is no part."""
    left, right, below = plot.x(n + 0.14), plot.x(n + 0.86), 0
    for index, one in enumerate(series):
        value = 0 if one.marked else one.values[n]
        if not value:
            continue
        low, high = plot.y(below), plot.y(below + value)
        yield Bar(left, high, round(right - left, 2), round(low - high, 2), index, column, value_label(value))
        below += value
