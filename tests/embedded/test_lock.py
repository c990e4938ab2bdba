import os

import pytest

from voting_site.embedded import StoreDirectoryError, StorePaths
from voting_site.embedded.lock import Lock


@pytest.fixture
def lock(paths: StorePaths):
    paths.prepare()
    lock = Lock(paths.lock)
    yield lock
    lock.release()


def test_one_owner_holds_the_lock_until_releasing_it(lock: Lock, paths: StorePaths):
    other = Lock(paths.lock)

    assert lock.acquire()
    assert not other.acquire()
    lock.release()
    assert other.acquire()

    other.release()


def test_releasing_the_lock_also_unlocks_it_in_processes_that_inherited_it(lock: Lock, paths: StorePaths):
    lock.acquire()
    inherited = os.dup(lock.fileno())

    lock.release()

    other = Lock(paths.lock)
    assert other.acquire()
    other.release()
    os.close(inherited)


def test_a_lock_that_cannot_be_opened_is_an_error(paths: StorePaths):
    paths.prepare()
    paths.lock.mkdir()

    with pytest.raises(StoreDirectoryError, match="Is a directory"):
        Lock(paths.lock).acquire()
