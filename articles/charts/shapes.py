"""The shapes of a chart, and round values for the ticks of its axes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta, tzinfo
from itertools import pairwise
from math import ceil, floor, isfinite, log10
from typing import Any
from unicodedata import east_asian_width

_ROUND_HOURS = (1, 2, 3, 6, 12, 24, 48, 96, 168)


def nice_ticks(low: float, high: float, *, most: int = 5, whole: bool = False) -> list[float]:
    """Return the ticks of an axis that includes `low` to `high`: multiples of 1, 2 or 5 × a power of ten.

    The axis has at most `most` steps and at least one, even where all values are equal. `whole`: only integers.
    """
    if not (isfinite(low) and isfinite(high)) or high <= low:
        low = low if isfinite(low) else 0.0
        high = low + (1 if whole else abs(low) or 1)
    exponent = floor(log10(max((high - low) / most, 1e-300)))
    exponent = max(exponent, 0) if whole else exponent
    for factor in (1, 2, 5, 10, 20):
        first, last = floor(_quotient(low, factor, exponent)), ceil(_quotient(high, factor, exponent))
        if last - first <= most:
            break
    return [_multiple(n * factor, exponent) for n in range(first, max(last, first + 1) + 1)]


def _quotient(value: float, factor: int, exponent: int) -> float:
    """Return value / (factor × 10^exponent), without rounding a power below 1."""
    return value / factor / 10.0**exponent if exponent >= 0 else value * 10.0**-exponent / factor


def _multiple(number: int, exponent: int) -> float:
    """Return number × 10^exponent, exact to the last bit: 0.3, not 3 × 0.1."""
    return float(number * 10**exponent) if exponent >= 0 else number / 10**-exponent


def rank_ticks(worst: int) -> list[float]:
    """Return ranks from 1 to at least `worst`: 1, 2, 3 … or 1, 3, 5 … or 1, 10, 20 …"""
    if worst <= 5:
        return [float(rank) for rank in range(1, max(worst, 2) + 1)]
    if worst <= 9:
        return [1.0, 3.0, 5.0, 7.0, 9.0]
    ticks = nice_ticks(0, worst, most=4, whole=True)
    return [1.0, *ticks[1:]]


def hour_ticks(hours: float) -> list[float]:
    """Return hours from 0 to at most `hours`, in readable steps: 0, 12, 24 …"""
    if hours < 2:
        return [at for at in nice_ticks(0, hours) if at <= hours]
    step = _round_hours(hours, 7)
    return [float(step * n) for n in range(floor(hours / step) + 1)]


def time_ticks(begin: float, end: float, zone: tzinfo, *, most: int = 5) -> list[float]:
    """Return round hours in `zone`, or midnights, from `begin` to `end`; all in Unix seconds."""
    step = timedelta(hours=_round_hours((end - begin) / 3600, most))
    first_day = datetime.fromtimestamp(begin, zone).date()
    clock, ticks = datetime.combine(first_day, time()), []  # wall-clock time without the zone: days of 24 h
    while (at := clock.replace(tzinfo=zone).timestamp()) <= end:
        if at >= begin:
            ticks.append(at)
        clock += step
    return ticks


def _round_hours(hours: float, most: int) -> int:
    """Return the smallest readable step, in hours, that divides `hours` into at most `most` steps."""
    for step in _ROUND_HOURS:
        if hours / step <= most:
            return step
    weeks = ceil(hours / 168 / most)
    return 168 * weeks


def evenly(length: int, most: int) -> Sequence[int]:
    """Return at most `most` indices of a sequence, evenly spaced, with the first and the last."""
    if length <= most:
        return range(length)
    return [round(n * (length - 1) / (most - 1)) for n in range(most)]


WIDTH = 400.0
HEIGHT = 200.0
LOW_HEIGHT = 120.0  # height of each of several small charts, one below the other
LETTER = 13.0  # largest size of a label, the same as in `static/css/charts.css`

Label = Callable[[float], str]
Run = Sequence[tuple[float, float]]  # values without a gap: (x, y) in the units of the data


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
    marked: bool = False  # whether each of its points gets a dot

    @property
    def path(self) -> str:
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
    names: tuple[str, ...] = ()  # names of the series, in the order of the table's columns after the first
    lines: tuple[Line, ...] = ()
    bars: tuple[Bar, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    totals: tuple[str, ...] = ()  # one sum per name; a dash where the sum is not meaningful
    width: float = WIDTH

    @property
    def is_empty(self) -> bool:
        return not self.y_ticks

    def line_of(self, name: str) -> Line | None:
        """Return the line of that name; None for a series of bars."""
        return next((line for line in self.lines if line.name == name), None)


class Plot:
    """Maps values to positions inside the margins that the labels need, between the ends of both axes.

    `y_axis`: values of the vertical axis, from bottom to top.
    """

    def __init__(
        self, x_axis: tuple[float, float], y_axis: Sequence[float], value_label: Label, height: float
    ) -> None:
        labels = list(map(value_label, y_axis))
        self._left = round(min(8 + max(map(_width, labels)), WIDTH / 2), 1)
        self._right, self._top, self._baseline, self._height = WIDTH - 10, 10.0, height - 24, height
        self._x_ends, self._y_ends = x_axis, (y_axis[0], y_axis[-1])
        self._y_ticks = tuple(
            Tick(self.y(value), label, self.y(value)) for value, label in zip(y_axis, labels, strict=True)
        )

    def chart(self, places: Iterable[tuple[float, str]], names: Iterable[str], **data: Any) -> Chart:
        """Return the chart of these series with its axes; `places`: values of the horizontal one, labelled."""
        ticks = self.x_ticks(places), self._y_ticks
        return Chart(self._height, self._left, self._right, self._baseline, *ticks, tuple(names), **data)

    def x(self, value: float) -> float:
        return round(self._left + (self._right - self._left) * _share(value, self._x_ends), 2)

    def y(self, value: float) -> float:
        return round(self._baseline + (self._top - self._baseline) * _share(value, self._y_ends), 2)

    def pieces(self, runs: Iterable[Run]) -> tuple[tuple[Point, ...], ...]:
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
    half = _width(tick.label) / 2
    return tick.text_at - half, tick.text_at + half
