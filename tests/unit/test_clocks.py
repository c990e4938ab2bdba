"""What the operator reads when the clocks disagree."""

import pytest

from articles.doctor.housekeeping import list_problems
from articles.repository import Clocks

NOW = 1_700_000_000.0
HOUR, DAY = 3600.0, 86400.0


@pytest.mark.parametrize(
    ("store", "store_machine", "expected"),
    [
        (0, 0, []), (0, 5, []), (0, 6, ["apart"]), (0, -6, ["apart"]), (60, 0, []),
        (61, 0, ["ahead"]), (-DAY, 0, []),
        (-DAY - 1, 0, ["behind"]), (2 * HOUR, HOUR, ["apart", "ahead"]),
    ],
)  # fmt: skip
def test_clocks_that_disagree_are_reported(store, store_machine, expected):
    clocks = Clocks(store=NOW + store, store_machine=NOW + store_machine, machine=NOW)

    assert [problem for problem, _ in list_problems(clocks)] == expected


def test_the_sentences_say_by_how_much_and_what_to_do():
    clocks = Clocks(store=NOW + 2 * HOUR, store_machine=NOW - 90, machine=NOW)

    (_, apart), (_, ahead) = list_problems(clocks)

    assert "differ by 1 min 30 s" in apart
    assert "up to 2 h 0 min early" in ahead
    assert "manage.py accept_clock" in ahead
