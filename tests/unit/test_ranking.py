"""The formulas: published values, and properties that hold for all values."""

import math

import pytest
from hypothesis import assume, given, strategies as st

from articles.domain import ranking
from articles.domain.ranking import RANGES, RECOMMENDED_GAMMA, Parameters

PUBLISHED = [
    (100, 50, 0, 56.5685424949238), (100, 50, 24, 1.2068685239272865), (100, 50, 72, 0.25134624593258226),
    (1000, 800, 70, 3.20816965538341), (10, 10, 24, 0.16594442204),
]  # fmt: skip

parameters = st.builds(
    Parameters,
    votes_per_day=st.integers(1, 86400),
    alpha=st.floats(0, 100),
    beta=st.floats(0.001, 100),
    base=st.floats(0.1, 48),
    gamma=st.floats(1, 2.5),
)


@pytest.mark.parametrize(("pv", "uv", "hours", "published"), PUBLISHED)
def test_hotness_matches_the_published_values(pv, uv, hours, published):
    assert ranking.hotness(pv, uv, hours, Parameters()) == pytest.approx(published, rel=1e-10)


def test_scores_match_the_published_values():
    assert ranking.score(1_500_000_000, 1, seconds_per_point=Parameters().seconds_per_point) == 1_500_000_432
    assert ranking.score(0, 200, seconds_per_point=432) == ranking.score(86400, 0, seconds_per_point=432)


def test_the_half_life_matches_the_published_value():
    assert ranking.half_life(Parameters()) == pytest.approx(1.1748, abs=1e-4)


@given(parameters)
def test_an_article_has_half_its_hotness_after_its_half_life(chosen):
    halved = ranking.hotness(100, 50, ranking.half_life(chosen), chosen)

    assert halved == pytest.approx(ranking.hotness(100, 50, 0, chosen) / 2, rel=1e-9)


@given(st.floats(0.05, 200), st.floats(0.1, 48))
def test_the_gamma_for_a_half_life_has_that_half_life(hours, base):
    gamma = ranking.gamma_for_half_life(hours, base)
    assume(0.01 < gamma < 1000)

    assert ranking.half_life(Parameters(base=base, gamma=gamma)) == pytest.approx(hours, rel=1e-9)


@given(parameters, st.integers(1, 10**6), st.integers(1, 10**6), st.floats(0, 5000), st.floats(0.02, 100))
def test_without_views_hotness_decreases_strictly_and_stays_positive(chosen, pv, uv, hours, later):
    now, then = (ranking.hotness(pv, uv, age, chosen) for age in (hours, hours + later))

    assert 0 < then < now


@given(parameters, st.integers(0, 10**6), st.integers(0, 10**6), st.floats(0, 5000))
def test_another_view_never_cools_an_article(chosen, pv, uv, hours):
    assert ranking.hotness(pv + 1, uv + 1, hours, chosen) > ranking.hotness(pv, uv, hours, chosen)


@pytest.mark.parametrize("posted_at", [1_700_000_000.0, 1_700_000_000.001])
def test_the_age_of_an_article_is_never_negative(posted_at):
    assert ranking.hours_between(posted_at, posted_at - 86400) == 0
    assert ranking.hours_between(posted_at, posted_at + 5400) == pytest.approx(1.5)


@pytest.mark.parametrize("name", RANGES)
def test_the_range_of_a_parameter_includes_its_ends(name):
    low, high = RANGES[name]

    for value in (low, high):
        assert ranking.out_of_range(Parameters(**{name: value})) == []
    for value in (low - 0.001, high + 0.001, math.inf, math.nan):
        assert ranking.out_of_range(Parameters(**{name: value})) == [name]


def test_alpha_and_beta_cannot_both_be_zero():
    assert ranking.out_of_range(Parameters(alpha=0, beta=0)) == ["alpha", "beta"]
    assert ranking.out_of_range(Parameters(alpha=0)) == ranking.out_of_range(Parameters(beta=0)) == []


def test_the_recommended_parameters_are_valid_and_the_defaults():
    low, high = RANGES["gamma"]

    assert low <= RECOMMENDED_GAMMA[0] <= Parameters().gamma <= RECOMMENDED_GAMMA[1] <= high
    assert ranking.out_of_range(Parameters()) == []
