"""Faults of a server that other tests must not share."""

from contextlib import suppress

import pytest
import redis

from tests.doctor.examining import brief, levels
from tests.small_disk import fill
from tests.waiting import until


@pytest.mark.deep
def test_a_store_that_has_evicted_keys_is_an_error(private, tmp_path):
    client = private(tmp_path / "data", maxmemory_policy="allkeys-lru")
    assert levels("store", "evictions") == []
    client.config_set("maxmemory", client.info("memory")["used_memory"] + 1_000_000)

    for number in range(3000):
        client.set(f"filler-{number}", "x" * 1000)

    assert levels("store", "evictions") == ["error"]


def test_a_disk_without_space_for_the_append_only_file_is_found(disk, private):
    client = private(disk / "data", appendfsync="no")
    hog = fill(disk)

    until(lambda: not _takes(client))
    with suppress(redis.ResponseError):  # it may fail at once
        client.bgrewriteaof()
    until(lambda: len(brief("store", "persistence")) == 2)
    (failed, (_level, rewrite)) = brief("store", "persistence")
    hog.unlink()

    assert failed == ("error", "The last write to the append-only file failed: no changes are accepted.")
    assert rewrite == "The last rewrite of the append-only file failed: the file keeps growing."


def _takes(client):
    """Return whether the store still takes a write."""
    try:
        return client.set("filler", "x" * 1000)
    except redis.ResponseError:
        return False
