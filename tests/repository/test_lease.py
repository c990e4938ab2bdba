"""The housekeeping lease, the notes of its steps, and what it trims."""

import threading

import pytest

from articles.domain.readership import Visit
from articles.repository import Repository
from articles.repository.store import keys as names
from tests.clock import DAY
from tests.factories import post
from tests.store_state import problems
from tests.waiting import until

DAY_OF_NOW = 1_700_000_000 // 86400


def test_one_process_runs_housekeeping_at_a_time(repository):
    with repository.lease.acquire() as first, repository.lease.acquire() as second:
        assert first is not None
        assert second is None
    with repository.lease.acquire() as third:
        assert third is not None


def test_an_expired_holder_neither_renews_nor_releases_the_lease(repository):
    client = repository.store.client
    with repository.lease.acquire() as late:
        client.delete(names.TICK_LOCK)  # as if it had expired
        with repository.lease.acquire() as next_one:
            assert next_one is not None
            assert not late.renew()
    with repository.lease.acquire() as third:
        assert third is not None
        client.set(names.TICK_LOCK, "another")
    assert client.get(names.TICK_LOCK) == "another"


def test_the_lease_is_released_when_the_work_fails(repository):
    with pytest.raises(ZeroDivisionError), repository.lease.acquire():
        1 / 0  # noqa: B018
    with repository.lease.acquire() as lease:
        assert lease is not None


def test_one_of_many_concurrent_processes_gets_the_lease(repository):
    barrier, finish, got = threading.Barrier(8), threading.Barrier(8), []

    def try_it():
        barrier.wait()
        with repository.lease.acquire() as lease:
            got.append(lease is not None)
            finish.wait()

    threads = [threading.Thread(target=try_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(got) == [False] * 7 + [True]


def test_the_last_run_of_a_step_is_recorded_for_the_operator(repository):
    repository.lease.record_step("hot", at=5.0, seconds=0.25, result="before", error="")
    repository.lease.record_step("hot", at=1_700_000_000.5, seconds=0.0123456789, result="120 → 100", error="")
    repository.lease.record_step("archive", at=7.0, seconds=1.0, result="", error="OSError: no")

    hot, archive = repository.inspection.list_steps()

    found = (hot.name, hot.at, hot.seconds, hot.result, hot.error)
    assert found == ("hot", 1_700_000_000.5, 0.012346, "120 → 100", "")
    assert (archive.name, archive.result, archive.error) == ("archive", "", "OSError: no")
    assert problems(repository) == []


def site_days(repository: Repository) -> set[str]:
    return {field for keys in repository.store.shards.all for field in repository.store.client.hkeys(keys.days())}


def test_days_no_longer_shown_are_dropped(repository, clock):
    article_id = post(repository, 1)
    repository.pageviews.record(article_id, Visit("0" * 16))
    clock.advance(13 * DAY)
    assert repository.lease.trim(set()) == 0
    shown = repository.pageviews.list_days()
    clock.advance(DAY)

    assert repository.lease.trim(set()) == 2

    assert site_days(repository) == set()
    assert shown[0].counted == 1
    assert [day.counted for day in repository.pageviews.list_days()] == [0] * 14
    assert repository.lease.trim(set()) == 0
    assert problems(repository) == []


def test_days_still_shown_are_kept(repository, clock):
    article_id = post(repository, 1)
    for number in range(3):
        repository.pageviews.record(article_id, Visit(f"{number:016x}"))
        clock.advance(DAY)
    shown = repository.pageviews.list_days()

    repository.lease.trim(set())

    assert repository.pageviews.list_days() == shown
    assert {int(field.partition(":")[0]) for field in site_days(repository)} == {
        DAY_OF_NOW,
        DAY_OF_NOW + 1,
        DAY_OF_NOW + 2,
    }


@pytest.mark.needs("files")
def test_the_append_only_file_drops_expired_salts_and_throttles(repository, store_paths):
    """Together with the secret key, they would reveal which visitor viewed what, and when."""
    client = repository.store.client
    article = post(repository, 1)
    salt = repository.pageviews.get_salt(1)
    repository.pageviews.record(article, Visit("feedfacecafebeef"))
    client.delete("salt:1", f"{repository.store.shards.of(article).prefix}seen:{article}:feedfacecafebeef")

    def on_disk(text):
        files = [
            path for ending in ("aof", "rdb") for path in store_paths.directory.glob(f"appendonlydir/*.{ending}")
        ]
        return any(text.encode() in content_of(path) for path in files)

    def content_of(path):
        try:
            return path.read_bytes()
        except FileNotFoundError:  # replaced since it was listed
            return b""

    assert on_disk(salt)
    assert on_disk("seen:1:feedfacecafebeef")

    assert repository.lease.rewrite_file()

    until(lambda: not on_disk(salt), seconds=20)
    assert not on_disk("seen:1:feedfacecafebeef")
    assert not repository.lease.rewrite_file()  # not again on this day
