"""Account ids are given out once, whatever the accounts database knows."""

from concurrent.futures import ThreadPoolExecutor

from articles.domain.articles import Choice
from tests.cast import ALICE, BOB, CAROL
from tests.factories import post


def test_ids_follow_the_highest_that_the_database_knows(repository):
    assert repository.account_ids.reserve(41, 1) == 42
    assert repository.account_ids.reserve(41, 3) == 43
    assert repository.account_ids.reserve(100, 1) == 101


def test_ids_follow_the_highest_that_the_store_knows(repository):
    assert repository.account_ids.note(7) == 7
    assert repository.account_ids.note(3) == 7

    assert repository.account_ids.reserve(0, 1) == 8
    assert repository.account_ids.reserve(0, 1) == 9


def test_concurrent_processes_get_different_ids(repository):
    with ThreadPoolExecutor(8) as pool:
        firsts = list(pool.map(lambda _: repository.account_ids.reserve(5, 2), range(100)))

    assert sorted(firsts) == list(range(6, 206, 2))


def test_large_ids_are_exact(repository):
    assert repository.account_ids.reserve(2**52, 1) == 2**52 + 1
    assert repository.account_ids.note(2**52 + 1) == 2**52 + 1


def test_members_are_found_by_their_lists(repository):
    first = post(repository, 1, poster=ALICE)
    repository.votes.cast(first, BOB, Choice.OPPOSE)
    repository.members.save(CAROL, first, wanted=True)

    assert set().union(*repository.account_ids.iterate()) == {ALICE, BOB, CAROL}
