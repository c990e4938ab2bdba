"""Parts of the changes, which mirrors read one after the other."""

import time

import pytest

from articles.domain.lists import CHANGES_KEPT
from articles.repository import ChangesLostError, Repository, changes as module
from tests.factories import post

pytestmark = pytest.mark.one_shard


@pytest.fixture
def at_once(monkeypatch) -> None:
    """No change comes again."""
    monkeypatch.setattr(module, "OVERLAP", 0.0)


def read_all(repository: Repository, place: module.Place, most: int = 50) -> list[int]:
    """Return the ids of all changes after a place, read in parts."""
    found: list[int] = []
    while (part := repository.changes.read_part(place, most)).changed:
        assert len(part.changed) <= most
        found += [one.id for one in part.changed]
        place = part.place
    return found


def note(repository: Repository, number: int, *ids: int, at: float) -> None:
    """Note changes in one shard, at a time in seconds."""
    keys = repository.store.shards.all[number % repository.store.shards.count]
    repository.store.client.zadd(keys.changes, {str(one): int(at * 1e6) for one in ids})


def test_changes_are_read_in_their_order_over_all_shards(repository, at_once):
    begin = repository.changes.read_part(None, 50)
    numbers = [post(repository, n) for n in range(12)]

    assert (begin.changed, begin.has_next) == ((), False)
    assert read_all(repository, begin.place, 5) == numbers


@pytest.mark.parametrize("most", [1, 7, 50, 120])
def test_changes_of_one_moment_are_parted_without_loss(repository, at_once, most):
    note(repository, 0, *range(1, 121), at=1e9)
    note(repository, 1, *range(201, 321), at=1e9)

    assert sorted(read_all(repository, (0, ""), most)) == [*range(1, 121), *range(201, 321)]


def test_what_another_shard_notes_a_moment_late_is_read(repository):
    begin = repository.changes.read_part(None, 50).place
    note(repository, 0, 1, at=time.time())
    part = repository.changes.read_part(begin, 50)
    note(repository, 1, 2, at=time.time() - 8)

    following = repository.changes.read_part(part.place, 50)

    assert [one.id for one in part.changed] == [1]
    assert [one.id for one in following.changed] == [2, 1], "the last seconds come again"


def test_many_changes_at_once_do_not_keep_a_reader_waiting(repository):
    begin = repository.changes.read_part(None, 50).place
    note(repository, 0, *range(1, 121), at=time.time())

    part = repository.changes.read_part(begin, 50)

    assert (len(part.changed), part.has_next) == (50, False), "it would read the same again"
    assert part.place >= begin


def test_a_place_from_which_changes_were_dropped_is_lost(repository):
    place = repository.changes.read_part(None, 50).place
    note(repository, 0, *range(1, CHANGES_KEPT), at=2e9)
    assert repository.changes.read_part(place, 50).changed
    note(repository, 0, CHANGES_KEPT, at=2e9)

    with pytest.raises(ChangesLostError):
        repository.changes.read_part(place, 50)
    note(repository, 0, 1, at=1)
    assert repository.changes.read_part(place, 50).changed, "none after it was dropped"
