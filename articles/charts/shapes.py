"""The shapes of a chart.

Lengths are in units of the drawing, which is WIDTH wide; y grows downwards. A label's width is estimated for the
largest size in which it is drawn, on a phone, so that the margins always suffice.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from unicodedata import east_asian_width

WIDTH = 400.0
HEIGHT = 200.0
LOW_HEIGHT = 120.0
"""Height of each of several small charts, one below the other."""

LETTER = 13.0
"""Largest size of a label, the same as in `static/css/charts.css`."""

Label = Callable[[float], str]
Run = Sequence[tuple[float, float]]
"""Values without a gap: (x, y) in the units of the data."""


def runs(values: Iterable[tuple[float, float | None]], apart: float) -> Iterator[Run]:
    """Yield the parts between gaps: where a value is None, or two are more than `apart` from each other."""
    run: list[tuple[float, float]] = []
    for at, value in values:
        if run and (value is None or at - run[-1][0] > apart):
            yield run
            run = []
        if value is not None:
            run.append((at, value))
    if run:
        yield run


def plain(value: float) -> str:
    """Return a number without grouping or trailing zeros."""
    return f"{value:g}"


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Tick:
    """A position on an axis with its label: an x below the chart, or a y beside it."""

    at: float
    label: str
    text_at: float
    """Middle of the label: the same position, or moved inwards as far as keeps the label in the drawing."""


@dataclass(frozen=True, slots=True)
class Line:
    """A named line in pieces, with a gap between each two."""

    name: str
    pieces: tuple[tuple[Point, ...], ...]
    marked: bool = False
    """Whether each of its points gets a dot."""

    @property
    def path(self) -> str:
        """The line as SVG path data."""
        return "".join("M" + "L".join(f"{p.x:g} {p.y:g}" for p in piece) for piece in self.pieces)

    @property
    def dots(self) -> tuple[Point, ...]:
        """The points to draw as dots: all of a marked line, else those without neighbours."""
        return tuple(point for piece in self.pieces if self.marked or len(piece) == 1 for point in piece)


@dataclass(frozen=True, slots=True)
class Bar:
    """One part of a stack, its upper left corner at `x`, `y`. `series` is the index of its name in the chart."""

    x: float
    y: float
    width: float
    height: float
    series: int
    column: str
    value: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing, and the same data as rows of a table. A chart without data is empty and has no axes."""

    height: float
    left: float = 0.0
    right: float = WIDTH
    baseline: float = 0.0
    """The plot extends from `left` to `right`, and down to the horizontal axis at y = `baseline`."""

    x_ticks: tuple[Tick, ...] = ()
    y_ticks: tuple[Tick, ...] = ()
    names: tuple[str, ...] = ()
    """Names of the series, in the order of the table's columns after the first."""

    lines: tuple[Line, ...] = ()
    bars: tuple[Bar, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    totals: tuple[str, ...] = ()
    """One sum per name; a dash where the sum is not meaningful."""

    width: float = WIDTH

    @property
    def is_empty(self) -> bool:
        return not self.y_ticks

    def line_of(self, name: str) -> Line | None:
        """Return the line of that name; None for a series of bars."""
        return next((line for line in self.lines if line.name == name), None)


class Plot:
    """Maps values to positions inside the margins that the labels need, between the ends of both axes.

    `y_axis`: values of the vertical axis with their labels, from bottom to top.
    """

    def __init__(self, x_axis: tuple[float, float], y_axis: Sequence[tuple[float, str]], height: float) -> None:
        self.left = round(min(8 + max(_width(label) for _, label in y_axis), WIDTH / 2), 1)
        self.right, self._top, self.baseline = WIDTH - 10, 10.0, height - 24
        self._x_ends, self._y_ends = x_axis, (y_axis[0][0], y_axis[-1][0])
        self.y_ticks = tuple(Tick(self.y(value), label, self.y(value)) for value, label in y_axis)

    def x(self, value: float) -> float:
        """Return the horizontal position of a value."""
        return round(self.left + (self.right - self.left) * _share(value, self._x_ends), 2)

    def y(self, value: float) -> float:
        """Return the vertical position of a value."""
        return round(self.baseline + (self._top - self.baseline) * _share(value, self._y_ends), 2)

    def pieces(self, runs: Iterable[Run]) -> tuple[tuple[Point, ...], ...]:
        """Return the positions of runs of values."""
        return tuple(tuple(Point(self.x(x), self.y(y)) for x, y in run) for run in runs)

    def x_ticks(self, places: Iterable[tuple[float, str]]) -> tuple[Tick, ...]:
        """Return as many ticks as fit beside each other, evenly spaced, always with the last one."""
        ticks = [_x_tick(self.x(value), label) for value, label in places]
        for every in range(1, len(ticks)):
            selection = ticks[::-1][::every][::-1]
            if all(_ends(left)[1] + LETTER / 2 <= _ends(right)[0] for left, right in pairwise(selection)):
                return tuple(selection)
        return tuple(ticks[-1:])


def _share(value: float, ends: tuple[float, float]) -> float:
    """Return the position of `value` between the ends, 0 at the first and 1 at the second."""
    return (value - ends[0]) / ((ends[1] - ends[0]) or 1.0)


def _width(label: str) -> float:
    """Return an upper estimate: a letter is about 0.6 times as wide as high, a Chinese character 1.0 times."""
    return LETTER * sum(1.0 if east_asian_width(letter) in "WF" else 0.62 for letter in label)


def _x_tick(at: float, label: str) -> Tick:
    half = _width(label) / 2
    return Tick(at, label, round(max(half, min(at, WIDTH - half)), 2))


def _ends(tick: Tick) -> tuple[float, float]:
    """Return the left and right end of a label on the horizontal axis."""
    half = _width(tick.label) / 2
    return tick.text_at - half, tick.text_at + half
