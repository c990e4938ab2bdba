import re
from datetime import UTC, datetime
from itertools import pairwise
from math import inf, isfinite, nan
from zoneinfo import ZoneInfo

import pytest
from django.template import engines
from hypothesis import given, strategies as st

from articles.charts.plots import Series, decay_curve, history, stacked_bars
from articles.charts.shapes import evenly, hour_ticks, nice_ticks, rank_ticks, time_ticks
from articles.views.ranking import chart_labels

MIDNIGHT = datetime(2026, 3, 2, tzinfo=UTC).timestamp()
TEN_MINUTES = 600


def points_of(line):
    return [point for piece in line.pieces for point in piece]


def samples(*rank_and_points, start=MIDNIGHT, every=TEN_MINUTES):
    return [(start + n * every, rank, points) for n, (rank, points) in enumerate(rank_and_points)]


# Ticks


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]), (0, 0.9, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 415, [0, 100, 200, 300, 400, 500]), (0, 56.57, [0, 20, 40, 60]),
        (0, 0.35, [0, 0.1, 0.2, 0.3, 0.4]), (-3, 12, [-5, 0, 5, 10, 15]),
        (0, 0, [0, 0.2, 0.4, 0.6, 0.8, 1]), (7, 7, [6, 8, 10, 12, 14]),
    ],
)  # fmt: skip
def test_an_axis_has_few_round_ticks_around_its_values(low, high, expected):
    assert nice_ticks(low, high) == expected


@given(st.floats(-1e15, 1e15), st.floats(1e-6, 1e15), st.booleans(), st.integers(2, 8))
def test_ticks_always_span_the_values_and_are_few(low, span, whole, most):
    ticks = nice_ticks(low, low + span, most=most, whole=whole)

    assert 2 <= len(ticks) <= most + 1
    assert all(one <= other for one, other in pairwise(ticks))
    rounding = 1e-9 * max(abs(low), span)
    assert ticks[0] <= low + rounding
    assert ticks[-1] >= low + span - rounding
    assert not whole or all(tick == int(tick) for tick in ticks)


@pytest.mark.parametrize(
    ("low", "high"), [(0, 1e300), (0, 5e-324), (0, 1e-300), (nan, nan), (0, inf), (-1e300, 1e300)]
)
def test_ticks_of_extreme_values_are_finite_and_few(low, high):
    ticks = nice_ticks(low, high)

    assert 2 <= len(ticks) <= 6
    assert all(isfinite(tick) for tick in ticks)


@pytest.mark.parametrize(
    ("worst", "expected"),
    [(1, [1, 2]), (4, [1, 2, 3, 4]), (7, [1, 3, 5, 7, 9]), (18, [1, 5, 10, 15, 20]), (100, [1, 50, 100])],
)
def test_an_axis_of_ranks_starts_at_1(worst, expected):
    assert rank_ticks(worst) == expected


@pytest.mark.parametrize(
    ("hours", "expected"),
    [
        (72, [0, 12, 24, 36, 48, 60, 72]), (24, [0, 6, 12, 18, 24]), (50, [0, 12, 24, 36, 48]),
        (168, [0, 24, 48, 72, 96, 120, 144, 168]), (1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
    ],
)  # fmt: skip
def test_an_axis_of_hours_has_readable_steps(hours, expected):
    assert hour_ticks(hours) == expected


def test_days_start_at_midnight_even_when_the_clocks_change():
    berlin = ZoneInfo("Europe/Berlin")  # summer time began on 29 March 2026
    begin = datetime(2026, 3, 27, 12, tzinfo=berlin).timestamp()

    ticks = time_ticks(begin, begin + 5 * 86400, berlin)

    assert [datetime.fromtimestamp(at, berlin).strftime("%d %H:%M") for at in ticks] == [
        "28 00:00", "29 00:00", "30 00:00", "31 00:00", "01 00:00",
    ]  # fmt: skip


@given(st.integers(1, 2000), st.integers(2, 60))
def test_an_even_selection_includes_both_ends_and_no_duplicates(length, most):
    chosen = list(evenly(length, most))

    assert len(chosen) == min(length, most)
    assert (chosen[0], chosen[-1]) == (0, length - 1)
    assert chosen == sorted(set(chosen))


# Decay


def test_a_curve_follows_its_function():
    chart = decay_curve([("straight", lambda hours: 100 - hours)], 100)

    top = chart.y_ticks[-1].at
    for point in points_of(chart.lines[0]):
        share = (point.x - chart.left) / (chart.right - chart.left)
        assert point.y == pytest.approx(top + share * (chart.baseline - top), abs=0.02)


def test_a_curve_has_a_gap_where_its_function_is_not_finite():
    chart = decay_curve([("gap", lambda hours: inf if 20 < hours < 40 else 1.0)], 72)

    before, after = chart.lines[0].pieces
    assert before[-1].x < after[0].x
    assert chart.lines[0].path.count("M") == 2
    assert [row[1] for row in chart.rows] == ["1", "1", "–", "–", "1", "1", "1"]


@pytest.mark.parametrize("value", [1e-12, 1e9, 1e15, 1e300])
def test_huge_and_tiny_values_stay_within_the_drawing(value):
    chart = decay_curve([("x", lambda hours: value / (hours + 1))], 72, value_label=lambda v: f"{v:,.0f}")

    assert 0 < chart.left < chart.right
    assert all(0 <= point.x <= chart.width and 0 <= point.y <= chart.height for point in points_of(chart.lines[0]))


# Stacked bars


def test_parts_are_stacked_upwards_from_the_axis():
    chart = stacked_bars(["1 May", "2 May"], [Series("counted", [6, 1]), Series("bots", [2, 3])])

    first, second = chart.bars[:2]
    assert first.y + first.height == pytest.approx(chart.baseline, abs=0.02)
    assert second.y + second.height == pytest.approx(first.y, abs=0.02)
    assert first.height == pytest.approx(3 * second.height, abs=0.05)
    assert [(bar.column, bar.series, bar.value) for bar in chart.bars] == [
        ("1 May", 0, "6"), ("1 May", 1, "2"), ("2 May", 0, "1"), ("2 May", 1, "3"),
    ]  # fmt: skip


def test_a_marked_series_is_a_line_through_the_middles_of_the_bars():
    chart = stacked_bars(["a", "b"], [Series("counted", [4, 2]), Series("visitors", [2, 1], marked=True)])

    (line,) = chart.lines
    assert len(line.dots) == 2
    for dot, bar in zip(line.dots, chart.bars, strict=True):
        assert dot.x == pytest.approx(bar.x + bar.width / 2, abs=0.02)
        assert dot.y == pytest.approx(bar.y + bar.height / 2, abs=0.02)


def test_a_zero_has_no_bar_but_a_table_row():
    chart = stacked_bars(["a", "b"], [Series("counted", [0, 0]), Series("bots", [0, 0])])

    assert chart.bars == ()
    assert chart.rows == (("a", "0", "0"), ("b", "0", "0"))
    assert [tick.label for tick in chart.y_ticks] == ["0", "1"]
    assert not chart.is_empty


def test_totals_count_only_the_stacked_series():
    chart = stacked_bars(
        ["a", "b"], [Series("counted", [1, 2]), Series("people", [1, 2], marked=True, adds_up=False)]
    )

    assert chart.totals == ("3", "–")


@pytest.mark.parametrize(
    ("label", "fitting"), [("1", 14), ("21 Nov", 5), ("11月21日", 5), ("Donnerstag, 21. Nov.", 2), ("x" * 60, 1)]
)
def test_labels_never_overlap_or_leave_the_drawing(label, fitting):
    chart = stacked_bars([label] * 14, [Series("counted", range(14))])

    width = 13 * (4 if "月" in label else 0.5 * len(label))
    places = [tick.text_at for tick in chart.x_ticks]
    assert len(places) == fitting
    assert chart.x_ticks[-1].at == pytest.approx(chart.bars[-1].x + chart.bars[-1].width / 2, abs=0.02)
    assert all(other - one > width for one, other in pairwise(places))
    assert places[-1] + width / 2 <= chart.width or len(label) == 60


# History


def test_ranks_and_points_are_steps_over_the_same_period():
    found = history(samples((3, 5), (3, 5), (1, 6), (1, 6)), value_label=lambda v: f"#{v:g}")

    (rank,) = found.rank.lines[0].pieces
    assert [point.y for point in rank] == [rank[0].y, rank[0].y, rank[-1].y, rank[-1].y]
    assert rank[1].x == rank[2].x
    (points,) = found.points.lines[0].pieces
    assert (points[0].x, points[-1].x) == pytest.approx((rank[0].x, rank[-1].x), abs=3)
    assert found.rows[0][1:] == ("#3", "#5")
    assert len(found.rows) == 4


def test_rank_1_is_at_the_top_and_more_points_are_higher():
    found = history(samples((9, 1), (1, 9)))

    rank, points = (points_of(chart.lines[0]) for chart in (found.rank, found.points))
    assert rank[-1].y < rank[0].y
    assert points[-1].y < points[0].y
    assert found.rank.y_ticks[-1].label == "1"
    assert min(tick.at for tick in found.rank.y_ticks) == found.rank.y_ticks[-1].at == rank[-1].y


def test_a_gap_in_time_is_a_gap_in_the_line_and_a_row_of_dashes():
    early, late = samples((2, 1), (2, 1)), samples((2, 1), (2, 1), start=MIDNIGHT + 7200)

    found = history(early + late, when_label=lambda at: f"{(at - MIDNIGHT) / 60:.0f}")

    assert len(found.rank.lines[0].pieces) == len(found.points.lines[0].pieces) == 2
    assert found.rows[2] == ("10 – 120", "–", "–")
    assert [row[0] for row in found.rows] == ["0", "10", "10 – 120", "120", "130"]
    assert (found.samples, found.shown, found.is_thinned) == (4, 4, False)


def test_two_missed_samples_are_a_gap_and_one_is_not():
    once = [(MIDNIGHT, 1, 1), (MIDNIGHT + 2 * TEN_MINUTES, 1, 1)]
    twice = [(MIDNIGHT, 1, 1), (MIDNIGHT + 3 * TEN_MINUTES, 1, 1)]

    assert len(history(once).rank.lines[0].pieces) == 1
    assert len(history(twice).rank.lines[0].pieces) == 2


def test_a_sample_without_a_rank_is_a_gap_only_in_the_rank():
    found = history(samples((1, 5), (None, 5), (2, 5)))

    assert len(found.rank.lines[0].pieces) == 2
    assert len(found.points.lines[0].pieces) == 1
    assert [row[1] for row in found.rows] == ["1", "–", "2"]


def test_a_single_sample_is_a_dot():
    found = history(samples((4, 7)))

    assert len(found.rank.lines[0].dots) == len(found.points.lines[0].dots) == 1
    assert found.rank.left < found.rank.lines[0].dots[0].x <= found.rank.right


def test_a_week_of_samples_has_a_short_table_and_says_so():
    found = history(samples(*((n % 100 + 1, n) for n in range(1008))))

    assert found.is_thinned
    assert (found.samples, found.shown, len(found.rows)) == (1008, 40, 40)
    assert (found.rows[0][2], found.rows[-1][2]) == ("0", "1007")
    assert len(found.rank.x_ticks) <= 6


def test_a_gap_between_the_samples_shown_is_marked_too():
    early, late = samples(*[(1, 1)] * 500), samples(*[(1, 1)] * 500, start=MIDNIGHT + 4 * 86400)

    found = history(early + late)

    assert [row[1:] for row in found.rows].count(("–", "–")) == 1


def test_a_line_that_never_changes_is_two_points():
    found = history(samples(*[(5, 20)] * 1000))

    assert len(points_of(found.rank.lines[0])) == 2


# Labels, and the drawing


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0"), (12, "12"), (1234567, "1,234,567"), (0.5, "0.5"), (56.5685, "56.6"), (1234.4, "1,234"),
        (-3, "−3"), (0.00024, "0.00024"), (2.5e-7, "2.5 × 10⁻⁷"), (1e-12, "1 × 10⁻¹²"),
        (3e15, "3e+15"), (1e300, "1e+300"),
    ],
)  # fmt: skip
def test_numbers_are_abbreviated_with_the_separators_of_the_language(value, expected):
    assert chart_labels.number(value) == expected


def test_midnights_are_labelled_with_the_day_and_hours_with_the_time():
    assert chart_labels.clock_or_day(MIDNIGHT) == "2 Mar"
    assert chart_labels.clock_or_day(MIDNIGHT + 6 * 3600) == "06:00"
    assert chart_labels.hours(1.5) == "1.5 h"


def drawn(call, **values):
    page = f'{{% from "charts.html" import decay_chart, history_chart, days_chart %}}{{{{ {call} }}}}'
    return engines["jinja2"].from_string(page).render(values)


def test_a_drawing_names_and_describes_itself_and_has_the_numbers_as_a_table():
    curves = [("a <b>", lambda hours: 8 - hours / 10), ("b", lambda hours: 4.0)]
    text = drawn('decay_chart(chart, "Title", "Description", id="x")', chart=decay_curve(curves, 72))

    assert 'role="img" aria-labelledby="x-title x-desc"' in text
    assert '<title id="x-title">Title</title>' in text
    assert '<desc id="x-desc">Description</desc>' in text
    assert text.count('class="line series-0"') == text.count('class="line series-1"') == 2  # drawing and legend
    assert "a &lt;b&gt;" in text
    assert re.findall(r"<td>([^<]*)</td>", text)[:4] == ["8", "4", "6.8", "4"]
    assert "style=" not in text


def test_a_single_curve_needs_no_legend():
    assert 'class="legend"' not in drawn('decay_chart(chart, "T", "D")', chart=decay_curve([("a", abs)], 72))


@pytest.mark.parametrize(
    ("call", "empty"),
    [("decay_chart", decay_curve([], 72)), ("days_chart", stacked_bars([], [])), ("history_chart", history([]))],
)
def test_an_empty_chart_is_not_drawn_and_says_so(call, empty):
    text = drawn(f'{call}(chart, "T", "D")', chart=empty)

    assert "No data yet." in text
    assert "<svg" not in text
    assert "<table" not in text


def test_a_history_is_two_drawings_with_different_names_and_one_table():
    found = history(samples(*((n % 9 + 1, n) for n in range(300))))
    text = drawn('history_chart(found, "T", "D", id="h")', found=found)

    assert re.findall(r'<title id="([\w-]+)">(\w+)', text) == [("h-1-title", "Rank"), ("h-2-title", "Points")]
    assert text.count("<table>") == 1
    assert "Showing 40 of 300 samples." in text


def test_parts_of_a_stack_differ_in_pattern_as_well_as_colour():
    series = [Series("counted", [3]), Series("bots", [2]), Series("bursts", [1])]
    text = drawn('days_chart(chart, "T", "D", id="d")', chart=stacked_bars(["1 May"], series))

    assert (
        re.findall(r'<rect class="bar series-(\d)"( fill="url\(#d-series-\d\)")?', text)
        == [("0", ""), ("1", ' fill="url(#d-series-1)"'), ("2", ' fill="url(#d-series-2)"')] * 2
    )  # legend and drawing
    assert {'id="d-series-1"', 'id="d-series-2"'} <= set(re.findall(r'id="d-series-\d"', text))
    assert "<title>1 May, bots: 2</title>" in text
