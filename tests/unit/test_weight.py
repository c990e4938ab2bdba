"""The fitting weight of a vote, computed from the points of a site's articles."""

import pytest

from articles.domain import ranking
from articles.domain.ranking import Settled, fitting_votes_per_day


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [
        ([15, 20, 35, 40, 50], 30, 20), ([15, 20, 35, 40, 50], 40, 20), ([15, 20, 35, 40, 50], 100, 50),
        ([7], 90, 7), (list(range(100, 0, -1)), 90, 90), (list(range(1, 12)), 90, 10),
    ],
)  # fmt: skip
def test_a_percentile_is_one_of_the_values_by_nearest_rank(values, percent, expected):
    assert ranking.nearest_rank(values, percent) == expected


def test_three_in_four_articles_have_at_most_the_fitting_number_of_points():
    assert fitting_votes_per_day(Settled([1] * 10 + [9] * 19 + [22] + [300] * 10, 1000, 0.0)) == 22


@pytest.mark.parametrize(("points", "fitting"), [(-3, 5), (1, 5), (5, 5), (6, 6), (200, 200), (4000, 200)])
def test_the_weight_stays_between_five_and_the_source_documents_number(points, fitting):
    assert fitting_votes_per_day(Settled([points] * 40, 1000, 0.0)) == fitting


@pytest.mark.parametrize(("articles", "choices"), [(29, 1000), (40, 99), (0, 0)])
def test_a_site_with_few_articles_or_votes_has_no_fitting_weight(articles, choices):
    assert fitting_votes_per_day(Settled([20] * articles, choices, 0.0)) is None


def test_thirty_articles_with_a_hundred_votes_have_a_fitting_weight():
    assert fitting_votes_per_day(Settled([20] * 30, 100, 0.0)) == 20


@pytest.mark.parametrize(
    ("current", "fitting", "is_worth"), [(20, 24, False), (20, 25, True), (20, 16, False), (20, 15, True)]
)
def test_a_difference_of_up_to_a_fifth_changes_nothing(current, fitting, is_worth):
    assert ranking.is_worth_a_change(current, fitting) == is_worth
