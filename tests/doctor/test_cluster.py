"""Stores of several servers with something wrong."""

import pytest

from articles.doctor import store as checks
from articles.repository import NodeFacts
from tests.doctor.examining import brief, levels, look
from tests.rules import connect
from tests.topologies.cluster import Cluster
from tests.topologies.node import HOST
from tests.topologies.topology import OneServer
from tests.waiting import until

CHECKED = ("shards", "spread", "replicas", "replica lag")


@pytest.fixture
def cluster(tmp_path, settings):
    """Two primaries, of which the first has a replica; the site uses 16 shards on them."""
    with Cluster(tmp_path / "store", primaries=2, replicas_of_each=0) as cluster:
        settings.STORE_URL, settings.STORE_SHARDS, settings.STORE_IS_EMBEDDED = cluster.url, 16, False
        connect(cluster.url, shards=16).prepare()
        first = cluster.primaries()[0]
        cluster.add_replica(first)
        until(lambda: first.connected_replicas() == 1)
        yield cluster


@pytest.fixture
def mirrored(tmp_path, settings):
    """A plain server; returns a function that starts a replica of it."""
    with OneServer(tmp_path / "store") as server:
        settings.STORE_URL, settings.STORE_IS_EMBEDDED = server.url, False
        primary = server.node

        def start():
            before = primary.connected_replicas()
            replica = server.start_node(replicaof=f"{HOST} {primary.port}")
            until(lambda: replica.is_in_step() and primary.connected_replicas() > before, told=replica.log)
            return replica

        yield start


def test_a_store_of_one_server_has_nothing_to_spread(site_store):
    assert [brief("store", name) for name in CHECKED] == [[], [], [], []]


def test_a_cluster(db, cluster, settings):
    assert levels("store", "shards") == ["fine"]
    assert levels("store", "spread") == ["fine"]
    assert levels("store", "replicas") == []
    assert levels("store", "replica lag") == ["fine"]

    settings.STORE_READ_REPLICAS = True
    (finding,) = look("store", "replicas")
    assert finding.level.label == "error"
    lonely = cluster.primaries()[1].address
    assert finding.text == f"`{lonely}` has no connected replica, so it serves all lists itself."

    settings.STORE_SHARDS = 5
    (few,) = look("store", "shards")
    assert few.level.label == "warning"
    assert few.text.startswith("The store is a cluster, but has only 5 shards")


@pytest.fixture
def spread(site_store, monkeypatch):
    """A function that lets the store be a cluster whose nodes have these hash slots of shards."""

    def let_be(**slots):
        nodes = [NodeFacts(f"{name}:1", tuple(found), 0, 0) for name, found in slots.items()]
        monkeypatch.setattr(type(site_store.store), "is_cluster", True)
        monkeypatch.setattr(type(site_store.inspection), "list_nodes", lambda _: nodes)

    return let_be


def test_a_node_with_too_many_shards_is_a_warning(spread):
    spread(a=range(8), b=range(100, 103), c=range(200, 205))

    (finding,) = look("store", "spread")

    assert finding.level.label == "warning"
    assert finding.text.startswith("The node `a:1` has 8 of 16 shards")
    assert finding.advice == "Move the hash slots 0, 1 to other nodes, starting with `b:1`."
    assert finding.detail == "a:1: 8, b:1: 3, c:1: 5"


def test_shards_that_cannot_be_spread_more_evenly_are_fine(spread):
    spread(a=(1, 2), b=(3,), c=(4,))

    assert levels("store", "spread") == ["fine"]


def test_too_few_replicas_to_confirm_votes_are_an_error(db, mirrored, settings):
    settings.STORE_CONFIRM_REPLICAS = 1
    assert levels("store", "replicas") == ["error"]
    mirrored()
    assert levels("store", "replicas") == ["fine"]

    settings.STORE_CONFIRM_REPLICAS = 2
    assert brief("store", "replicas") == [
        ("error", "The store has 1 connected replicas, but votes wait for 2: none can be confirmed.")
    ]


def test_a_replica_that_hangs_is_a_warning(db, mirrored, monkeypatch):
    replica = mirrored()
    assert levels("store", "replica lag") == ["fine"]
    monkeypatch.setattr(checks, "_MOST_LAG_SECONDS", 1)
    with replica.frozen():
        until(lambda: levels("store", "replica lag") == ["warning"])
    until(lambda: levels("store", "replica lag") == ["fine"])
