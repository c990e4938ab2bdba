"""Sentinels name another primary when it is gone, and take it back as a replica."""

import pytest
from redis.sentinel import Sentinel

from tests.topologies.replication import SENTINEL_PASSWORD, SERVICE, Replication
from tests.waiting import until

pytestmark = pytest.mark.topology


@pytest.fixture
def store(tmp_path, binary):
    # Late enough that a busy machine does not make the sentinels name yet another primary.
    times, settings = {"down_after_ms": 3000}, {"appendonly": "yes"}
    with Replication(tmp_path / "store", binary, has_password=True, settings=settings, **times) as store:
        yield store


def through_sentinels(store: Replication):
    """Return a client that redis-py connects to the primary of the moment."""
    watch = [("127.0.0.1", sentinel.port) for sentinel in store.sentinels]
    sentinels = Sentinel(watch, sentinel_kwargs={"password": SENTINEL_PASSWORD}, password=store.password)
    return sentinels.master_for(SERVICE, decode_responses=True)


def test_a_replica_replaces_a_killed_primary_and_takes_it_back(store):
    earlier = store.primary()
    with through_sentinels(store) as client:
        client.set("key", "value")
        assert client.wait(2, 10_000) == 2
        earlier.kill()

        primary = store.until_failed_over(earlier)

        assert primary is not earlier
        assert client.get("key") == "value"
    earlier.restart()
    store.until_whole()
    assert not earlier.is_primary
    assert earlier.client.get("key") == "value"


def test_a_replica_replaces_a_frozen_primary(store):
    earlier = store.primary()
    with earlier.frozen():
        assert store.until_failed_over(earlier) is not earlier

    store.until_whole()
    assert not earlier.is_primary


def test_a_replica_whose_line_is_cut_stays_behind_and_catches_up(store):
    primary, replica = store.primary(), store.replicas()[0]
    with replica.line_cut():
        primary.client.set("key", "value")
        assert replica.client.get("key") is None

    until(lambda: replica.is_in_step() and replica.offset() >= primary.offset())
    assert replica.client.get("key") == "value"


def test_a_replica_is_added_and_removed(store):
    store.primary().client.set("key", "value")

    added = store.add_replica()
    store.until_whole()

    assert added.client.get("key") == "value"
    assert len(store.replicas()) == 3
    store.remove_replica(added)
    assert len(store.replicas()) == 2
