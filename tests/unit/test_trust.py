"""Whether three of those who gave points are unrelated."""

from itertools import combinations
from random import Random

import pytest

from articles.domain.trust import are_three_unrelated, counted


@pytest.mark.random
def test_three_unrelated_members_are_found_exactly_if_there_are_some():
    chance, answers = Random(1), []
    for _ in range(2_000):
        size = chance.randrange(9)
        origins = [{one, *chance.choices(range(9, 18), k=chance.randrange(4))} for one in range(size)]
        expected = any(
            not (one & two or one & three or two & three) for one, two, three in combinations(origins, 3)
        )
        assert are_three_unrelated(origins) == expected, origins
        answers.append(expected)
    assert 400 < sum(answers) < 1_600


def test_points_count_from_three_unrelated_members_or_with_a_moderator():
    points = {1: 3, 2: 1, 3: 1}
    apart = {one: {one} for one in points}

    assert counted(points, apart, set()) == 5
    assert counted(points, apart | {2: {2, 1}}, set()) == 0
    assert counted(points, apart | {2: {2, 9}, 3: {3, 9}}, set()) == 0
    assert counted({1: 3, 2: 2}, {1: {1}, 2: {2}}, set()) == 0
    assert counted({1: 3, 2: 2}, {}, {2}) == 5
    assert counted({1: 3}, {1: {1}}, {2}) == 0
