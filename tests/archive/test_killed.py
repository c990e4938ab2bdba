"""A process killed at any step of archiving or restoring loses nothing, and the next one finishes the work."""

from itertools import count

import pytest

from articles.domain.lists import Order
from tests.archive.conftest import ALICE_READS, BOB_READS, CAROL_READS, LONG, shown
from tests.cast import ALICE, BOB, CAROL
from tests.factories import post, view
from tests.store_state import problems

pytestmark = pytest.mark.site


def begin_again(repository, clock, archivist):
    """Empty the store and bring it into the state of `idle` again."""
    repository.store.client.flushdb()
    repository.prepare()
    archivist.tell("clear")
    post(repository, 1)
    for visitor in (ALICE, BOB, ALICE):
        view(repository, 1, visitor)
        clock.advance(600)
    clock.advance(LONG)


def is_archived(repository):
    return repository.archive.is_archived(1)


def test_a_process_killed_while_archiving_loses_nothing(idle, clock, archivist):
    outcomes = set()
    for die_at in count(1):
        begin_again(idle, clock, archivist)
        survived = archivist.survives("archive", die_at=die_at)

        assert shown(idle) == (3, 2), f"killed at step {die_at}"
        assert problems(idle) == []
        outcomes.add((is_archived(idle), bool(archivist.tell("rows"))))

        archivist.tell("archive")
        assert is_archived(idle)
        assert shown(idle) == (3, 2)
        assert archivist.tell("rows") == [[1, 3, 2]]
        assert archivist.tell("view", BOB_READS) == [None, 4, 2], "bob is known"
        assert archivist.tell("view", CAROL_READS) == [None, 5, 3], "carol is not"
        assert problems(idle) == []
        if survived:
            break
    assert die_at > 12
    assert outcomes == {(False, False), (False, True), (True, True)}


def test_a_process_killed_while_restoring_loses_nothing(idle, clock, archivist):
    outcomes = set()
    for die_at in count(1):
        begin_again(idle, clock, archivist)
        archivist.tell("archive")
        survived = archivist.survives("view", CAROL_READS, die_at=die_at)

        seen = shown(idle)
        assert seen in ((3, 2), (4, 3)), f"killed at step {die_at}"
        assert problems(idle) == []
        outcomes.add((is_archived(idle), seen, bool(archivist.tell("rows"))))

        clock.advance(3700)
        archivist.tell("archive")  # restored without a view, the article is as idle as before
        assert archivist.tell("view", BOB_READS) == [None, seen[0] + 1, seen[1]], "bob is known"
        assert archivist.tell("view", "f" * 16) == [None, seen[0] + 2, seen[1] + 1]
        assert problems(idle) == []
        clock.advance(3700)
        archivist.tell("sweep")
        assert archivist.tell("rows") == [], "nothing is left over"
        if survived:
            break
    assert die_at > 12
    assert outcomes == {(True, (3, 2), True), (False, (3, 2), True), (False, (4, 3), True), (False, (4, 3), False)}


def test_the_stale_row_of_a_killed_process_is_not_restored(idle, clock, archivist):
    steps = (die_at for die_at in count(1) if not archivist.survives("archive", die_at=die_at))
    assert any(archivist.tell("rows") for _ in steps)
    assert not is_archived(idle)
    view(idle, 1, CAROL)
    assert shown(idle) == (4, 3)
    clock.advance(LONG)

    archivist.tell("archive")

    assert archivist.tell("rows") == [[1, 4, 3]]
    assert archivist.tell("view", CAROL_READS) == [None, 5, 3]


@pytest.mark.parametrize("readers", [12])
def test_readers_of_an_archived_article_at_the_same_moment_are_all_counted(idle, clock, archivist, readers):
    archivist.tell("archive")
    visitors = [f"{number:016x}" for number in range(100, 100 + readers)]

    statuses, answers = archivist.ask("view", *visitors)

    assert statuses == [0] * readers
    assert sorted(pv for _, pv, _ in answers) == list(range(4, 4 + readers))
    assert shown(idle) == (3 + readers, 2 + readers)
    assert archivist.tell("view", ALICE_READS) == [None, 4 + readers, 2 + readers]
    assert archivist.tell("rows") == []
    assert [article.id for article in idle.lists.get_page(Order.HOT).articles] == [1]
    assert problems(idle) == []
