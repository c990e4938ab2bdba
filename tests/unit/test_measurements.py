"""What happened between two measurements, and the operator's charts of them."""

import re
from dataclasses import replace
from itertools import product

import pytest
from django.template import engines
from django.utils import translation
from prometheus_client.mmap_dict import MmapedDict, mmap_key

from articles.charts.plots import TimeLine, time_lines
from articles.domain.measurements import EVERY, KEPT, LONGEST, Measurement, WebCounts, measured
from articles.operation import metric_files, metrics
from articles.views.operation import last_day

BEGAN = 1_700_000_000.0
COUNTS = WebCounts(BEGAN, 7, 100, 2, {"0.01": 50, "0.1": 90, "+Inf": 100})
NOW = BEGAN + KEPT


@pytest.fixture(autouse=True)
def _in_english():
    with translation.override("en"):
        yield


# Differences


def test_what_was_counted_in_between_is_the_difference():
    later = WebCounts(BEGAN, 7, 130, 3, {"0.01": 60, "0.1": 115, "+Inf": 130})

    assert later.since(COUNTS, NOW - EVERY, NOW) == WebCounts(BEGAN, 0, 30, 1, {"0.01": 10, "0.1": 25, "+Inf": 30})


def test_a_bucket_that_is_new_has_counted_from_zero():
    later = replace(COUNTS, within={**COUNTS.within, "5.0": 99})

    assert later.since(COUNTS, NOW - EVERY, NOW).within == {"0.01": 0, "0.1": 0, "+Inf": 0, "5.0": 99}


def test_counts_that_began_again_count_from_zero():
    restarted = replace(COUNTS, began=NOW - 60, views=5)

    assert restarted.since(COUNTS, NOW - EVERY, NOW) == restarted


def test_other_counts_are_known_only_if_they_began_after_the_earlier_reading():
    earlier = replace(COUNTS, began=BEGAN - 60)

    assert COUNTS.since(earlier, BEGAN, BEGAN + EVERY) == COUNTS
    assert COUNTS.since(earlier, BEGAN + 1, BEGAN + EVERY) is None
    assert COUNTS.since(earlier, BEGAN - EVERY, BEGAN - 1) is None, "a clock was set back"


@pytest.mark.parametrize(
    "fewer", [{"views": 99}, {"errors": 1}, {"votes": 6}, {"within": {"0.01": 49, "0.1": 90, "+Inf": 100}}]
)
def test_counts_that_were_lost_are_never_negative(fewer):
    assert replace(COUNTS, **fewer).since(COUNTS, NOW - EVERY, NOW) is None


# Percentiles


@pytest.mark.parametrize(
    ("share", "seconds"), [(0.5, 0.01), (0.25, 0.005), (0.7, 0.055), (0.9, 0.1), (0.99, 0.1), (1, 0.1)]
)
def test_a_percentile_is_interpolated_between_the_bounds(share, seconds):
    assert COUNTS.percentile(share) == pytest.approx(seconds)


@pytest.mark.parametrize("within", [{}, {"0.01": 0, "+Inf": 0}])
def test_without_requests_there_is_no_percentile(within):
    assert replace(COUNTS, within=within).percentile(0.5) is None


# What the workers have counted


def test_the_counts_of_all_workers_and_views_are_added_up(tmp_path):
    metric_files.begin(tmp_path, 13)
    for pid, view, status, seconds in ((11, "a", "200", "0.01"), (12, "b", "503", "0.05")):
        counters = MmapedDict(str(tmp_path / f"counter_{pid}.db"))
        labels = ["view", "method", "status"]
        counters.write_value(
            mmap_key("site_requests", "site_requests_total", labels, [view, "GET", status], "Help."), pid, 0.0
        )
        for name, outcome in product(("votes", "views"), ("ok", "closed")):
            counters.write_value(
                mmap_key(f"site_{name}", f"site_{name}_total", ["outcome"], [outcome], "Help."), 1, 0.0
            )
        counters.close()
        times = MmapedDict(str(tmp_path / f"histogram_{pid}.db"))
        for bound, count in ((seconds, 2), ("+Inf", 1)):
            key = mmap_key(
                "site_request_seconds", "site_request_seconds_bucket", ["view", "le"], [view, bound], "Help."
            )
            times.write_value(key, count, 0.0)
        times.close()

    counts = metrics.read_web_counts(tmp_path)

    assert counts == WebCounts(metric_files.began_at(tmp_path), 2, 2, 12, {"0.01": 2, "0.05": 2, "+Inf": 6})


def test_a_machine_without_a_web_server_has_no_counts(tmp_path):
    assert metrics.read_web_counts(None) is None
    assert metrics.read_web_counts(tmp_path) is None
    assert metrics.read_web_counts(tmp_path / "missing") is None


# Readings


def test_readings_are_the_measurements_of_what_happened_in_between():
    later = WebCounts(BEGAN, 9, 110, 2, {"0.01": 60, "0.1": 100, "+Inf": 110})

    first, second = measured([(NOW - EVERY, COUNTS), (NOW, later)])

    assert first == Measurement(NOW - EVERY)
    assert second == Measurement(NOW, 2, 10, 0, pytest.approx(0.005), pytest.approx(0.0099))


def test_after_a_long_silence_nothing_is_known():
    assert measured([(NOW - LONGEST - EVERY, COUNTS), (NOW, COUNTS)])[1] == Measurement(NOW)
    assert measured([(NOW - LONGEST, COUNTS), (NOW, COUNTS)])[1] == Measurement(NOW, 0, 0, 0)


# The lines


def test_lines_share_an_axis_from_zero_over_the_whole_period():
    chart = time_lines(
        [TimeLine("a", [(100, 5), (200, 10)]), TimeLine("b", [(100, 0), (200, None)])],
        (0, 400),
        apart=100,
        whole=True,
    )

    a, b = chart.lines
    assert [tick.label for tick in chart.y_ticks] == ["0", "5", "10"]
    assert [point.y for point in a.pieces[0]] == [chart.y_ticks[1].at, chart.y_ticks[2].at]
    assert b.pieces[0][0].y == chart.baseline
    assert chart.left < a.pieces[0][0].x < a.pieces[0][-1].x < chart.right
    assert len(b.dots) == 1


def test_a_line_has_gaps_where_nothing_is_known_or_nothing_was_measured():
    values = [(0, 1), (100, 1), (200, None), (300, 1), (400, 1), (700, 1)]

    (line,) = time_lines([TimeLine("a", values)], (0, 800), apart=100).lines

    assert [len(piece) for piece in line.pieces] == [2, 2, 1]


def test_a_level_part_of_a_line_is_two_points():
    values = [(n * 10, value) for n, value in enumerate((3, 3, 3, 5, 5, 5, 5, 4))]

    (line,) = time_lines([TimeLine("a", values)], (0, 70), apart=10).lines

    (piece,) = line.pieces
    level = time_lines([TimeLine("a", [values[n] for n in (0, 2, 3, 6, 7)])], (0, 70), apart=100).lines
    assert piece == level[0].pieces[0]


def test_lines_without_a_value_are_empty():
    assert time_lines([TimeLine("a", [(0, None)])], (0, 1), apart=1).is_empty
    assert not time_lines([TimeLine("a", [(0, 0)])], (0, 1), apart=1).is_empty


# The charts


def day_of(**figures):
    """Return the page's charts of a day with a measurement every five minutes."""
    return last_day([Measurement(NOW - KEPT + n * EVERY, **figures) for n in range(1, 289)], NOW)


def page_of(day):
    return engines["jinja2"].get_template("operation/measurements.html").render({"last_day": day})


def test_each_chart_says_its_latest_and_its_highest_value():
    earlier = Measurement(NOW - EVERY, votes=40, errors=3, median_seconds=0.012)
    latest = Measurement(NOW, votes=1200, errors=0, median_seconds=0.0034)

    charts = {one.title: one for one in last_day([earlier, latest], NOW).charts}

    assert charts["Votes cast"].summary == "Latest: 1,200. Highest: 1,200."
    assert charts["Errors"].summary == "Latest: 0. Highest: 3."
    assert "Median: latest 3.4 ms, highest 12 ms." in charts["Response time"].summary
    assert charts["Views"].chart.is_empty


def test_a_latest_value_that_is_not_known_is_a_dash():
    earlier, latest = Measurement(NOW - EVERY, votes=40), Measurement(NOW)

    (votes,) = [one for one in last_day([earlier, latest], NOW).charts if one.title == "Votes cast"]

    assert votes.summary == "Latest: –. Highest: 40."


@pytest.mark.parametrize("measured", [[], [Measurement(NOW, votes=1)]])
def test_too_few_measurements_are_no_charts_and_the_page_says_so(measured):
    text = page_of(last_day(measured, NOW))

    assert "<svg" not in text
    assert "The charts appear once there are two measurements." in text


def test_a_day_is_four_drawings_and_one_table_of_a_row_for_each_hour():
    text = page_of(day_of(votes=1, errors=0, median_seconds=0.01, p99_seconds=0.2))

    assert text.count("<figure") == 4
    assert text.count('<svg class="chart"') == 3, "there are no views"
    assert text.count("<table>") == 1
    assert text.count("<tr>") == 26
    assert "Showing 25 of 288 measurements." in text
    assert len(re.findall(r'<desc id="chart-\d-desc">[^<]+</desc>', text)) == 3
    assert "style=" not in text


def test_a_few_measurements_are_all_in_the_table():
    text = page_of(last_day([Measurement(NOW - EVERY, votes=3), Measurement(NOW, votes=4)], NOW))

    assert text.count("<tr>") == 3
    assert "Showing" not in text


def test_a_day_takes_as_little_room_as_the_rest_of_the_page():
    assert len(page_of(day_of(votes=1, views=1, errors=1, median_seconds=1, p99_seconds=1))) < 60_000
