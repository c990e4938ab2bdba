"""Calculations of the ranking lab, checked with examples computed by hand."""

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from articles.domain import ranking
from articles.domain.articles import Article
from articles.domain.ranking import RANGES, Parameters, out_of_range
from extras.lab import formulas

RECOMMENDED = Parameters()


def article(number, posted_at):
    return Article("A title", "https://example.org", number, 1, "alice", posted_at, 1, 0, posted_at, posted_at)


def test_moves_are_ranks_gained_or_lost_and_new_articles_are_marked():
    found = formulas.moves([10, 11, 12, 13], [12, 11, 99, 10])

    assert [(move.rank, move.before, move.places) for move in found] == [
        (1, 3, 2), (2, 2, 0), (3, None, 0), (4, 1, -3),
    ]  # fmt: skip


def test_the_share_of_articles_older_than_a_day_excludes_those_exactly_a_day_old():
    now = 1_700_000_000.0
    articles = [article(1, now), article(2, now - 86400), article(3, now - 86400.001), article(4, now - 1e6)]

    assert formulas.share_older_than_a_day(articles, now) == 0.5
    assert formulas.share_older_than_a_day([], now) is None


def test_changes_list_the_parameters_that_differ():
    found = formulas.changes(RECOMMENDED, replace(RECOMMENDED, alpha=1.5, votes_per_day=20))
    assert found == {"votes_per_day": (200, 20), "alpha": (1.0, 1.5)}


def test_another_base_is_proposed_if_gamma_would_be_out_of_range():
    assert formulas.with_half_life(6, RECOMMENDED) is None
    # 6 / (2^(1/1.5) - 1) = 10.21
    assert formulas.with_half_life_and_base(6, RECOMMENDED) == replace(RECOMMENDED, base=10.21)


def test_base_and_gamma_are_proposed_together_if_neither_is_enough_alone():
    found = formulas.with_half_life_and_base(48, RECOMMENDED)

    assert (found.base, found.gamma) == (48, 1.0)
    assert formulas.with_half_life_and_base(0.05, Parameters(gamma=1)) == Parameters(base=0.1, gamma=1.71)
    assert formulas.with_half_life_and_base(60, RECOMMENDED) is None


@given(st.floats(formulas.SHORTEST, formulas.LONGEST), st.floats(*RANGES["base"]), st.floats(*RANGES["gamma"]))
def test_every_allowed_target_half_life_is_reachable_within_the_ranges(hours, base, gamma):
    parameters = Parameters(base=base, gamma=gamma)

    found = formulas.with_half_life(hours, parameters) or formulas.with_half_life_and_base(hours, parameters)

    assert found is not None
    assert out_of_range(found) == []
    assert ranking.half_life(found) == pytest.approx(hours, rel=0.15 if hours < 0.5 else 0.02)


@pytest.mark.parametrize(
    ("parameters", "hours"), [(RECOMMENDED, 12), (Parameters(base=0.1), 6), (Parameters(base=48, gamma=1), 336)]
)
def test_curves_are_drawn_until_their_decay_is_visible(parameters, hours):
    assert formulas.curve_hours(parameters) == hours
    assert formulas.curve_hours(parameters, Parameters(base=0.1)) == hours
