"""Curves: functions of time, such as the decay of an article's hotness."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isfinite

from articles.charts.shapes import HEIGHT, Chart, Label, Line, Plot, plain
from articles.charts.ticks import hour_ticks, nice_ticks

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
    plot = Plot((0, hours), [(value, value_label(value)) for value in nice_ticks(0, highest)], HEIGHT)
    names, ticks = tuple(name for name, _ in series), hour_ticks(hours)
    return Chart(
        HEIGHT,
        plot.left,
        plot.right,
        plot.baseline,
        plot.x_ticks((at, hour_label(at)) for at in ticks),
        plot.y_ticks,
        names,
        lines=tuple(Line(name, plot.pieces(_runs(curve))) for name, curve in zip(names, curves, strict=True)),
        rows=tuple(
            (hour_label(at), *(_cell(function(at), value_label) for _, function in series)) for at in ticks
        ),
    )


def _runs(curve: Iterable[tuple[float, float]]) -> Iterator[list[tuple[float, float]]]:
    """Yield the finite parts of a curve."""
    run: list[tuple[float, float]] = []
    for at, value in curve:
        if isfinite(value):
            run.append((at, value))
        elif run:
            yield run
            run = []
    if run:
        yield run


def _cell(value: float, value_label: Label) -> str:
    return value_label(value) if isfinite(value) else "–"
