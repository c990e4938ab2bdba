"""What a chart is made of.

Lengths are in units of the drawing: WIDTH of them from left to right; y grows downwards. A label's width is
estimated for the largest size it is ever drawn in, a phone's, so that margins always suffice.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from unicodedata import east_asian_width

WIDTH = 400.0
HEIGHT = 200.0
LOW_HEIGHT = 120.0
"""Of each of several small charts that stand below each other."""

LETTER = 13.0
"""Largest size of a label; `static/css/charts.css` says the same."""

Label = Callable[[float], str]
Run = Sequence[tuple[float, float]]
"""Values without a gap: (x, y) in the data's own units."""


def plain(value: float) -> str:
    """A number as programs write it."""
    return f"{value:g}"


@dataclass(frozen=True, slots=True)
class Point:
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis with its label: an x below the chart, or a y beside it."""

    at: float
    label: str
    text_at: float
    """Where the label's middle is: the same place, or as far inwards as keeps it in the drawing."""


@dataclass(frozen=True, slots=True)
class Line:
    """A named line in pieces; between two of them there is a gap."""

    name: str
    pieces: tuple[tuple[Point, ...], ...]
    marked: bool = False
    """Whether each of its points gets a dot."""

    @property
    def path(self) -> str:
        """As SVG path data."""
        return "".join("M" + "L".join(f"{p.x:g} {p.y:g}" for p in piece) for piece in self.pieces)

    @property
    def dots(self) -> tuple[Point, ...]:
        """Points to draw as dots: all where it is marked, else those that stand alone."""
        return tuple(point for piece in self.pieces if self.marked or len(piece) == 1 for point in piece)


@dataclass(frozen=True, slots=True)
class Bar:
    """One part of a stack, its upper left corner at `x`, `y`. `series` is its index among the chart's names."""

    x: float
    y: float
    width: float
    height: float
    series: int
    column: str
    value: str


@dataclass(frozen=True, slots=True)
class Chart:
    """What there is to draw, and the same as rows of a table. One without data is empty, and has no axes."""

    height: float
    left: float = 0.0
    right: float = WIDTH
    baseline: float = 0.0
    """Where the plot lies: from `left` to `right`, down to the horizontal axis at y = `baseline`."""

    x_ticks: tuple[Tick, ...] = ()
    y_ticks: tuple[Tick, ...] = ()
    names: tuple[str, ...] = ()
    """Of the series, in the order of the table's columns after the first."""

    lines: tuple[Line, ...] = ()
    bars: tuple[Bar, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    totals: tuple[str, ...] = ()
    """One for each name; only where adding up means something."""

    width: float = WIDTH

    @property
    def is_empty(self) -> bool:
        return not self.y_ticks

    def line_of(self, name: str) -> Line | None:
        """The line of that name; None for a series of bars."""
        return next((line for line in self.lines if line.name == name), None)


class Plot:
    """Where values lie: inside the margins that the labels need, between the ends of both axes.

    `y_axis`: the vertical axis' values with their labels, from the bottom to the top.
    """

    def __init__(self, x_axis: tuple[float, float], y_axis: Sequence[tuple[float, str]], height: float) -> None:
        self.left = round(min(8 + max(_width(label) for _, label in y_axis), WIDTH / 2), 1)
        self.right, self._top, self.baseline = WIDTH - 10, 10.0, height - 24
        self._x_ends, self._y_ends = x_axis, (y_axis[0][0], y_axis[-1][0])
        self.y_ticks = tuple(Tick(self.y(value), label, self.y(value)) for value, label in y_axis)

    def x(self, value: float) -> float:
        return round(self.left + (self.right - self.left) * _share(value, self._x_ends), 2)

    def y(self, value: float) -> float:
        return round(self.baseline + (self._top - self.baseline) * _share(value, self._y_ends), 2)

    def pieces(self, runs: Iterable[Run]) -> tuple[tuple[Point, ...], ...]:
        return tuple(tuple(Point(self.x(x), self.y(y)) for x, y in run) for run in runs)

    def x_ticks(self, places: Iterable[tuple[float, str]]) -> tuple[Tick, ...]:
        """As many of the labels as fit beside each other, evenly; the last one always."""
        ticks = [_x_tick(self.x(value), label) for value, label in places]
        for every in range(1, len(ticks)):
            found = ticks[::-1][::every][::-1]
            if all(_ends(one)[1] + LETTER / 2 <= _ends(other)[0] for one, other in pairwise(found)):
                return tuple(found)
        return tuple(ticks[-1:])


def _share(value: float, ends: tuple[float, float]) -> float:
    """Which part of the way from the first end to the second `value` is."""
    return (value - ends[0]) / ((ends[1] - ends[0]) or 1.0)


def _width(label: str) -> float:
    """At most; a letter is about six tenths as wide as high, a Chinese character as wide as high."""
    return LETTER * sum(1.0 if east_asian_width(letter) in "WF" else 0.62 for letter in label)


def _x_tick(at: float, label: str) -> Tick:
    half = _width(label) / 2
    return Tick(at, label, round(max(half, min(at, WIDTH - half)), 2))


def _ends(tick: Tick) -> tuple[float, float]:
    """Where a label on the horizontal axis begins and ends."""
    half = _width(tick.label) / 2
    return tick.text_at - half, tick.text_at + half
