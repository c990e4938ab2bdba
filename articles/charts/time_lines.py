"""Lines over a period of time, such as the requests and the errors of a day."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo

from articles.charts.shapes import LOW_HEIGHT, Chart, Label, Line, Plot, Run, plain, runs
from articles.charts.ticks import nice_ticks, time_ticks


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
    unit: float = 1,
    whole: bool = False,
    zone: tzinfo = UTC,
    time_label: Label = plain,
    value_label: Label = plain,
) -> Chart:
    """Return a low chart of lines from the beginning to the end of `span`, on one axis that begins at 0.

    A line has a gap where a value is None, or two times are more than `apart` seconds from each other. The axis
    has round multiples of `unit`, only integral ones if `whole`; times are labelled as in `history`. Without any
    value the chart is empty. It has no rows.
    """
    known = [value for line in lines for _, value in line.values if value is not None]
    if not known:
        return Chart(LOW_HEIGHT)
    axis = [tick * unit for tick in nice_ticks(0, max(known) / unit, most=3, whole=whole)]
    plot = Plot(span, [(value, value_label(value)) for value in axis], LOW_HEIGHT)
    return Chart(
        LOW_HEIGHT,
        plot.left,
        plot.right,
        plot.baseline,
        plot.x_ticks((at, time_label(at)) for at in time_ticks(*span, zone)),
        plot.y_ticks,
        tuple(line.name for line in lines),
        lines=tuple(Line(line.name, plot.pieces(map(_bends, runs(line.values, apart)))) for line in lines),
    )


def _bends(run: Run) -> Run:
    """Return the points of a run without those in the middle of a level part, which draw nothing."""
    ends = (0, len(run) - 1)
    return [at for n, at in enumerate(run) if n in ends or not run[n - 1][1] == at[1] == run[n + 1][1]]
