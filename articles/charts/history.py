"""History charts: an article's rank and points over time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from itertools import pairwise

from articles.charts.shapes import (
    LOW_HEIGHT,
    Chart,
    Label,
    Line,
    Plot,
    Run,
    evenly,
    nice_ticks,
    plain,
    rank_ticks,
    runs,
    time_ticks,
)

APART = 1500.0
"""Seconds between two samples above which the line has a gap: with a sample every 600 s, two are missing."""

MOST_SHOWN = 40
"""Samples in the table; if there are more, it shows this many, evenly spaced."""

Sample = tuple[float, int | None, int | None]
"""Time (Unix seconds), rank (from 1; None: not ranked), points."""

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
    apart: float = APART,
    zone: tzinfo = UTC,
    time_label: Label = plain,
    when_label: Label = plain,
    value_label: Label = plain,
) -> History:
    """Return step charts of rank, 1 at the top, and points: a value holds until the next sample or gap.

    A gap is where samples are more than `apart` seconds apart, or a value is None. Samples come in any order, at
    most one per moment. `time_label` labels the axis, at round hours or midnights of `zone`, and `when_label` the
    table's rows, where a gap is a row of dashes; both take Unix seconds. Without samples the history is empty.
    """
    ordered = sorted(samples, key=lambda sample: sample[0])
    if not ordered:
        return History(Chart(LOW_HEIGHT), Chart(LOW_HEIGHT))
    end = ordered[-1][0]
    span = (min(ordered[0][0], end - 3600), end)
    places = [(at, time_label(at)) for at in time_ticks(*span, zone)]
    ranks = [(at, rank) for at, rank, _ in ordered]
    points = [(at, count) for at, _, count in ordered]
    return History(
        _steps(ranks, _rank_axis(ranks), apart, span, places, value_label),
        _steps(points, _points_axis(points), apart, span, places, value_label),
        tuple(_rows(ordered, apart, when_label, value_label)),
        len(ordered),
        min(len(ordered), MOST_SHOWN),
    )


def _present(values: _Values) -> list[int]:
    return [value for _, value in values if value is not None]


def _rank_axis(ranks: _Values) -> list[float]:
    """Return the axis from the worst rank, at the bottom, to 1."""
    return rank_ticks(max(_present(ranks), default=1))[::-1]


def _points_axis(points: _Values) -> list[float]:
    counts = _present(points) or [0]
    return nice_ticks(min(counts), max(counts), most=3, whole=True)


def _steps(
    values: _Values,
    axis: Sequence[float],
    apart: float,
    span: tuple[float, float],
    places: Iterable[tuple[float, str]],
    value_label: Label,
) -> Chart:
    if not _present(values):
        return Chart(LOW_HEIGHT)
    plot = Plot(span, axis, value_label, LOW_HEIGHT)
    return plot.chart(places, [""], lines=(Line("", plot.pieces(map(_corners, runs(values, apart)))),))


def _corners(run: Run) -> Run:
    """Return the corners of the steps through a run. Samples that change nothing have none."""
    corners = [run[0]]
    for at, value in run[1:]:
        if value != corners[-1][1]:
            corners += [(at, corners[-1][1]), (at, value)]
    if run[-1][0] > corners[-1][0]:
        corners.append(run[-1])
    return corners


def _rows(
    samples: Sequence[Sample], apart: float, when_label: Label, value_label: Label
) -> Iterator[tuple[str, str, str]]:
    """Yield the chosen samples and, between two of them, the first gap in time, if any."""

    def cell(value: int | None) -> str:
        return "–" if value is None else value_label(value)

    begin = 0
    for index in evenly(len(samples), MOST_SHOWN):
        for earlier, later in pairwise(samples[begin : index + 1]):
            if later[0] - earlier[0] > apart:
                yield f"{when_label(earlier[0])} – {when_label(later[0])}", "–", "–"
                break
        at, rank, points = samples[index]
        yield when_label(at), cell(rank), cell(points)
        begin = index
