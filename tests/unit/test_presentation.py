"""How values look on pages."""

import pytest
from django.utils import translation

from articles.presentation import duration, significant, thousandths


@pytest.fixture(autouse=True)
def english():
    with translation.override("en"):
        yield


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 seconds"),
        (0.0004, "0 seconds"),
        (0.5, "0.5 seconds"),
        (1, "1 second"),
        (9.9999, "10 seconds"),
        (59.6, "1 minute"),
        (432, "7 minutes 12 seconds"),
        (-432, "7 minutes 12 seconds"),
        (3600, "1 hour"),
        (3605, "1 hour"),
        (90_000, "1 day 1 hour"),
        (86_400 * 1234 + 7200, "1,234 days 2 hours"),
    ],
)
def test_a_length_of_time_is_told_in_its_largest_units(seconds, words):
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (28, "28"),
        (1234.5678, "1,235"),
        (1_234_567, "1,234,567"),
        (56.5685, "56.57"),
        (0.0125, "0.0125"),
        (0.00099999, "0.001"),
        (-3.25, "-3.25"),
        (1.25e-7, "1.25 × 10⁻⁷"),
        (9.99999e-7, "1 × 10⁻⁶"),
    ],
)
def test_a_number_has_four_digits_that_count(number, text):
    assert significant(number) == text


def test_numbers_follow_the_readers_language():
    assert significant(1234.5, 6) == "1,234.5"
    with translation.override("de"):
        assert significant(1234.5, 6) == "1.234,5"
        assert thousandths(1234.5) == "1.234,500"


def test_times_of_the_store_are_shown_to_the_millisecond():
    assert thousandths(1_700_000_432.1) == "1,700,000,432.100"
