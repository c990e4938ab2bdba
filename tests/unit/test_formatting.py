"""The format of values on pages."""

import re

import pytest
import time_machine
from django.conf import settings
from django.utils import timezone, translation
from django.utils.formats import localize

from articles.domain.articles import Choice, Tally
from articles.formatting import units, values
from articles.formatting.values import duration, figures, full_date, grouped, moment, significant, thousandths
from articles.views.lists.refresh import counts, sentence
from articles.views.ranking.chart_labels import clock_or_day
from voting_site.jinja import environment


@pytest.fixture(autouse=True)
def english():
    with translation.override("en"):
        yield


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 seconds"), (0.0004, "0 seconds"), (0.5, "0.5 seconds"), (1, "1 second"),
        (9.9999, "10 seconds"), (59.6, "1 minute"), (432, "7 minutes 12 seconds"),
        (-432, "7 minutes 12 seconds"), (3600, "1 hour"), (3605, "1 hour"),
        (90_000, "1 day 1 hour"), (86_400 * 1234 + 7200, "1,234 days 2 hours"),
    ],
)  # fmt: skip
def test_a_duration_is_shown_in_its_largest_units(seconds, words):
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"), (28, "28"), (1234.5678, "1,235"), (1_234_567, "1,234,567"), (56.5685, "56.57"),
        (0.0125, "0.0125"), (0.00099999, "0.001"), (-3.25, "−3.25"),
        (1.25e-7, "1.25 × 10⁻⁷"), (9.99999e-7, "1 × 10⁻⁶"),
    ],
)  # fmt: skip
def test_a_number_has_four_significant_digits(number, text):
    assert significant(number) == text


def test_numbers_follow_the_readers_language():
    assert significant(1234.5, 6) == "1,234.5"
    with translation.override("de"):
        assert significant(1234.5, 6) == "1.234,5"
        assert thousandths(1234.5) == "1.234,500"


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_digits_are_grouped_and_negative_numbers_have_a_minus_sign(language):
    with translation.override(language):
        assert [grouped(-1), grouped(1703), grouped(-1_234_567)] == ["−1", "1,703", "−1,234,567"]
        assert thousandths(-1234.5) == "−1,234.500"
        assert figures("1500 → 0.25") == "1,500 → 0.25"
        assert [units.decimal(1234.5, 2), units.span(1234 * 86_400)[:5]] == ["1,234.50", "1,234"]
        assert units.size(1023 * 1024).startswith("1,023.0")


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_digits_are_grouped_in_plural_texts(language):
    page = environment(autoescape=True).from_string('{{ ngettext("%(num)s of <b>", "%(num)s of <b>", 1703) }}')

    with translation.override(language):
        assert page.render() == "1,703 of <b>"


def sources():
    for folder, kind in (
        ("templates", "*.html"), ("articles", "*.py"), ("links", "*.py"), ("moderation", "*.py"),
        ("accounts", "*.py"),
    ):  # fmt: skip
        yield from (settings.BASE_DIR / folder).rglob(kind)


def test_every_number_in_text_for_readers_passes_through_a_filter():
    found = {str(path): re.findall(r"%\(\w+\)d", path.read_text("utf-8")) for path in sources()}

    assert {path: names for path, names in found.items() if names} == {}


@pytest.mark.parametrize(
    ("opposes", "points", "unit"), [(0, "1", "point"), (1, "0", "points"), (2, "−1", "point"), (3, "−2", "points")]
)
def test_one_point_is_singular_whatever_its_sign(opposes, points, unit):
    tally = Tally(1, opposes, Choice.NONE)

    assert (counts(1, tally)["points"], counts(1, tally)["unit"]) == (points, unit)
    assert sentence(tally) == f"Your vote was taken back: {points} {unit} now."
    page = environment(autoescape=True).from_string('{{ ngettext("point", "points", points) }}')
    assert page.render(points=tally.points) == unit


def test_dates_name_their_day_and_end_in_no_full_stop():
    midnight = 1_795_305_600.0

    assert [full_date(midnight), full_date(midnight + 840)] == ["22 Nov 2026, 00:00 UTC", "22 Nov 2026, 00:14 UTC"]
    assert full_date(midnight + 43_200) == "22 Nov 2026, 12:00 UTC"
    assert [clock_or_day(midnight), clock_or_day(midnight + 43_200)] == ["22 Nov", "12:00"]
    with translation.override("zh-hans"):
        assert full_date(midnight) == "2026年11月22日 00:00 UTC"


@pytest.mark.parametrize(
    ("zone", "date"),
    [
        ("Asia/Shanghai", "22 Nov 2026, 08:00 UTC+8"),
        ("America/Chicago", "21 Nov 2026, 18:00 UTC−6"),
        ("Asia/Kathmandu", "22 Nov 2026, 05:45 UTC+5:45"),
        ("America/St_Johns", "21 Nov 2026, 20:30 UTC−3:30"),
        ("Africa/Abidjan", "22 Nov 2026, 00:00 UTC"),
    ],
)
def test_times_carry_their_zone_as_a_distance_from_utc(zone, date):
    midnight = 1_795_305_600.0

    with timezone.override(zone), time_machine.travel(midnight, tick=False):
        assert full_date(midnight) == date
        assert (
            localize(moment(midnight)) == f"{date.partition(' UTC')[0]} UTC{moment(midnight):%z}"
        )  # in the admin site


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (-59, "just now"), (59, "just now"), (-60, "1 minute ago"), (60, "in 1 minute"),
        (-7265, "2 hours 1 minute ago"), (6 * 86400 + 100, "in 6 days"),
    ],
)  # fmt: skip
def test_relative_times_are_accurate_to_the_minute(monkeypatch, seconds, told):
    monkeypatch.setattr(values.time, "time", lambda: 1.8e9)

    assert values.from_now(1.8e9 + seconds) == told


def test_text_between_backticks_is_code_and_nothing_is_markup():
    assert values.coded("Set `A=<1>` & go") == "Set <code>A=&lt;1&gt;</code> &amp; go"
    assert values.coded("plain") == "plain"
