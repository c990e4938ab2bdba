"""The charts of the last 24 hours on the operator's page."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from articles.charts import Chart, TimeLine, time_lines
from articles.charts.shapes import evenly
from articles.domain.operation.measurements import KEPT, LONGEST, Measurement
from articles.formatting import units
from articles.formatting.values import grouped, prose
from articles.views.ranking import chart_labels

_MOST_ROWS = 25
"""Maximum number of rows of the table: about one for each hour."""

_LEAST = 2
"""Minimum number of measurements for a line."""

_UNKNOWN = "–"

_ZERO_DECIMAL = re.compile(r"[.,]0(?![0-9])")
"""A decimal that round numbers on an axis omit."""


def _milliseconds(seconds: float) -> str:
    return _("%(n)s ms") % {"n": chart_labels.number(seconds * 1000)}


@dataclass(frozen=True, slots=True)
class _Quantity:
    """A kind of number: how it is written, and the unit in which its axis has round numbers."""

    label: Callable[[float], str]
    unit: Callable[[float], float] = lambda _highest: 1
    is_whole: bool = False


def _unit_of_size(highest: float) -> float:
    """Return the largest unit in which the number of bytes is at least 1."""
    return float(max((1024**n for n in range(5) if 1024**n <= highest), default=1))


_COUNT = _Quantity(grouped, is_whole=True)
_TIME = _Quantity(_milliseconds, lambda _highest: 0.001)
_SIZE = _Quantity(units.size, _unit_of_size)


@dataclass(frozen=True, slots=True)
class _Figure:
    """A figure of a measurement, by its attribute."""

    attribute: str
    name: str | Promise

    def of(self, measurement: Measurement) -> float | None:
        value: float | None = getattr(measurement, self.attribute)
        return value

    def line(self, measured: Sequence[Measurement]) -> TimeLine:
        return TimeLine(str(self.name), [(one.at, self.of(one)) for one in measured])


_Content = tuple[str | Promise, _Quantity, tuple[_Figure, ...]]
"""The title of a chart, the kind of its numbers, and its figures."""


def _alone(quantity: _Quantity, attribute: str, name: str | Promise) -> _Content:
    return name, quantity, (_Figure(attribute, name),)


_CHARTS: tuple[_Content, ...] = (
    _alone(_COUNT, "votes", gettext_lazy("Votes cast")),
    _alone(_COUNT, "posts", gettext_lazy("Articles posted")),
    _alone(_COUNT, "views", gettext_lazy("Views")),
    _alone(_COUNT, "requests", gettext_lazy("Requests")),
    _alone(_COUNT, "errors", gettext_lazy("Errors")),
    (
        gettext_lazy("Response time"),
        _TIME,
        (
            _Figure("median_seconds", gettext_lazy("Median")),
            _Figure("p99_seconds", gettext_lazy("99th percentile")),
        ),
    ),
    _alone(_SIZE, "memory_bytes", gettext_lazy("Memory")),
    _alone(_SIZE, "file_bytes", gettext_lazy("Append-only file")),
)


@dataclass(frozen=True, slots=True)
class DayChart:
    """A chart of the last 24 hours. `summary`: its latest and its highest values in words."""

    title: str
    summary: str
    chart: Chart


@dataclass(frozen=True, slots=True)
class LastDay:
    """The charts of the last 24 hours, and the same figures as a table; no charts of too few measurements."""

    charts: tuple[DayChart, ...] = ()
    names: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    measurements: int = 0


def last_day(measured: Sequence[Measurement], now: float) -> LastDay:
    """Return what the page shows of these measurements, oldest first."""
    if len(measured) < _LEAST:
        return LastDay(measurements=len(measured))
    figures = [(quantity, figure) for _title, quantity, shown in _CHARTS for figure in shown]
    return LastDay(
        tuple(
            _chart(str(title), quantity, [figure.line(measured) for figure in shown], now)
            for title, quantity, shown in _CHARTS
        ),
        tuple(str(figure.name) for _quantity, figure in figures),
        tuple(
            (
                chart_labels.when(one.at),
                *(_cell(quantity, figure.of(one)) for quantity, figure in figures),
            )
            for one in (measured[index] for index in evenly(len(measured), _MOST_ROWS))
        ),
        len(measured),
    )


def _chart(title: str, quantity: _Quantity, lines: Sequence[TimeLine], now: float) -> DayChart:
    chart = time_lines(
        lines,
        (now - KEPT, max(now, lines[0].values[-1][0])),
        apart=LONGEST,
        unit=quantity.unit(max((value or 0 for line in lines for _at, value in line.values))),
        whole=quantity.is_whole,
        zone=chart_labels.zone(),
        time_label=chart_labels.clock_or_day,
        value_label=lambda value: _ZERO_DECIMAL.sub("", quantity.label(value)),
    )
    return DayChart(title, _summary(quantity, lines), chart)


def _summary(quantity: _Quantity, lines: Sequence[TimeLine]) -> str:
    """Return the latest and the highest value of each line in words."""
    if len(lines) == 1:
        return _("Latest: %(latest)s. Highest: %(highest)s.") % _extremes(quantity, lines[0])
    text = _("%(name)s: latest %(latest)s, highest %(highest)s.")
    return prose(" ".join(text % {"name": line.name, **_extremes(quantity, line)} for line in lines))


def _extremes(quantity: _Quantity, line: TimeLine) -> dict[str, str]:
    known = [value for _at, value in line.values if value is not None]
    return {
        "latest": _cell(quantity, line.values[-1][1]),
        "highest": _cell(quantity, max(known, default=None)),
    }


def _cell(quantity: _Quantity, value: float | None) -> str:
    return _UNKNOWN if value is None else quantity.label(value)
