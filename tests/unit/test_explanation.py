"""The parts of an explanation add up to the value that ranks an article."""

import pytest
from hypothesis import given, strategies as st

from articles.domain import ranking
from articles.domain.explanation import HotnessParts, ScoreParts
from articles.domain.ranking import Parameters

POSTED = 1_700_000_000.0

parameters = st.builds(
    Parameters,
    st.integers(1, 86400),
    st.floats(0.1, 100),
    st.floats(0, 100),
    st.floats(0.1, 48),
    st.floats(1.0, 2.5),
)
counts = st.integers(0, 10**6)


def hotness(pv=100, uv=50, hours=24.0, parameters=None):
    return HotnessParts(pv, uv, POSTED, POSTED + hours * 3600, parameters or Parameters())


@given(st.integers(1, 4 * 10**12), counts, counts, st.integers(1, 86400))
def test_the_score_is_exactly_the_one_that_ranks(milliseconds, votes, opposes, votes_per_day):
    per_point = Parameters(votes_per_day).seconds_per_point
    parts = ScoreParts(milliseconds / 1000, votes, opposes, per_point)

    assert parts.value == ranking.score(milliseconds / 1000, votes - opposes, seconds_per_point=per_point)
    assert parts.with_more(1) == ranking.score(
        milliseconds / 1000, votes - opposes + 1, seconds_per_point=per_point
    )


@pytest.mark.parametrize(
    ("apart", "votes"), [(0, 0), (0.001, 1), (432, 1), (432.001, 2), (433, 2), (864, 2), (864 + 5e-7, 2)]
)
def test_a_difference_in_score_is_expressed_in_votes(apart, votes):
    assert ScoreParts(POSTED, 1, 0, 432.0).worth(apart) == votes


@given(st.integers(0, 500), st.integers(1, 86400), st.integers(0, 4 * 10**9))
def test_a_difference_of_whole_points_is_worth_exactly_those_points(points, votes_per_day, seconds):
    parts = ScoreParts(seconds, 0, 0, Parameters(votes_per_day).seconds_per_point)

    assert parts.worth(parts.with_more(points) - parts.value) == points


@given(counts, counts, st.floats(0, 10**5), parameters)
def test_hotness_is_readership_divided_by_age_and_is_the_value_that_ranks(pv, uv, hours, parameters):
    parts = hotness(pv, uv, hours, parameters)

    assert parts.value == parts.readers / parts.denominator
    assert parts.value == ranking.hotness(pv, uv, parts.hours, parameters)
    assert parts.hours == pytest.approx(hours, abs=1e-9)


def test_later_hotness_is_that_of_an_older_article():
    parts = hotness(100, 50, 0)

    assert parts.after(0) == parts.value == pytest.approx(56.5685424949238)
    assert parts.after(24) == pytest.approx(1.2068685239272865)
    assert parts.after(72) == pytest.approx(0.25134624593258226)


def test_an_article_from_the_future_does_not_cool_before_its_posting_time():
    parts = hotness(hours=-5.0)

    assert parts.hours == 0
    assert parts.after(5) == parts.after(0) == ranking.hotness(100, 50, 0, Parameters())
    assert parts.after(6) < parts.after(5)


@given(st.integers(0, 10**4), st.integers(1, 200), st.floats(0, 10**4), parameters)
def test_the_views_a_difference_is_worth_compensate_for_it(pv, missing, hours, parameters):
    behind, ahead = hotness(pv, pv, hours, parameters), hotness(pv + missing, pv + missing, hours, parameters)

    assert behind.worth(ahead.value - behind.value) == missing
