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


def test_a_lock_file_without_an_owner_can_be_locked(lock: Lock, paths: StorePaths):
    paths.lock.write_text("12345")

    assert lock.acquire()


def test_a_process_that_inherits_the_lock_holds_it_too(lock: Lock, paths: StorePaths):
    lock.acquire()
    inherited = os.dup(lock.fileno())
    lock.forget()

    assert not Lock(paths.lock).acquire()

    os.close(inherited)
    assert lock.acquire()


def test_releasing_the_lock_also_unlocks_it_in_processes_that_inherited_it(lock: Lock, paths: StorePaths):
    lock.acquire()
    inherited = os.dup(lock.fileno())

    lock.release()

    other = Lock(paths.lock)
    assert other.acquire()
    other.release()
    os.close(inherited)


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_fork_does_not_hold_the_lock(lock: Lock):
    lock.acquire()
    forked_read, forked = os.pipe()
    done, done_write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(done_write)
        os.write(forked, b"held" if lock.held else b"free")
        os.read(done, 1)
        os._exit(0)

    says = os.read(forked_read, 4)
    lock.forget()  # as if the owner were killed
    free = lock.acquire()

    for end in (done_write, done, forked, forked_read):
        os.close(end)
    os.waitpid(child, 0)
    assert says == b"free"
    assert free


def test_a_lock_that_cannot_be_opened_is_an_error(paths: StorePaths):
    paths.prepare()
    paths.lock.mkdir()

    with pytest.raises(StoreDirectoryError, match="Is a directory"):
        Lock(paths.lock).acquire()
