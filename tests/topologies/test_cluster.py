"""A cluster moves slots, gains and loses nodes, and replaces what is gone, while every key stays readable."""

import pytest
from redis.cluster import RedisCluster
from redis.crc import key_slot

from tests.topologies import binaries, slots
from tests.topologies.cluster import Cluster
from tests.topologies.cluster_view import view_of
from tests.waiting import until

KEYS = [f"{{s{shard}}}:{number}" for shard in range(16) for number in range(20)]


@pytest.fixture
def cluster(tmp_path, binary):
    with Cluster(tmp_path / "store", binary, has_password=True, settings={"appendonly": "yes"}) as cluster:
        yield cluster


def through(cluster: Cluster):
    return RedisCluster(host="127.0.0.1", port=cluster.nodes[0].port, password=cluster.password)


def owners(cluster: Cluster):
    """Return the client of each key's node."""
    clients = {slot: node.client for node in cluster.primaries() for slot in cluster.slots_of(node)}
    return {key: clients[key_slot(key.encode())] for key in KEYS}


def fill(cluster: Cluster) -> None:
    for key, client in owners(cluster).items():
        client.set(key, "value")


def missing(cluster: Cluster) -> list[str]:
    return [key for key, client in owners(cluster).items() if client.get(key) != "value"]


@pytest.mark.parametrize("primaries", [1, 3, 4, 5])
def test_ranges_hold_every_slot_once(primaries):
    assert [slot for part in slots.ranges(primaries) for slot in part] == list(range(slots.SLOTS))


def test_three_primaries_own_what_redis_cli_deals():
    assert [(part[0], part[-1]) for part in slots.ranges(3)] == [(0, 5460), (5461, 10922), (10923, 16383)]


@pytest.mark.nodes
def test_a_slot_moves_with_its_keys_between_nodes(tmp_path):
    with Cluster(tmp_path / "store", binaries.redis_or_valkey(), replicas_of_each=0) as cluster:
        fill(cluster)
        source = cluster.owner_of("{s1}:0")
        target = next(node for node in cluster.primaries() if node is not source)
        moved = key_slot(b"{s1}:0")

        cluster.move_slots(source, target, [moved])

        assert cluster.owner_of("{s1}:0") is target
        assert source.run("CLUSTER", "COUNTKEYSINSLOT", moved) == 0
        assert missing(cluster) == []


@pytest.mark.topology
def test_a_single_node_serves_every_slot(tmp_path, binary):
    with Cluster(tmp_path / "store", binary, primaries=1, replicas_of_each=0) as cluster:
        assert cluster.slots_of(cluster.nodes[0]) == list(range(slots.SLOTS))
        fill(cluster)
        assert missing(cluster) == []


@pytest.mark.topology
def test_the_cluster_client_of_redis_py_reaches_every_node(cluster):
    with through(cluster) as client:
        for key in KEYS:
            client.set(key, "value")

    assert missing(cluster) == []
    assert all(node.client.dbsize() for node in cluster.primaries())


@pytest.mark.topology
@pytest.mark.parametrize("fault", ["kill", "freeze"])
def test_a_replica_replaces_a_primary_that_is_gone_and_takes_it_back(cluster, fault):
    fill(cluster)
    earlier = cluster.owner_of_slot(0)
    (replica,) = cluster.replicas(earlier)
    until(lambda: replica.offset() >= earlier.offset())
    getattr(earlier, fault)()

    assert cluster.until_failed_over(0, earlier) is replica

    assert missing(cluster) == []
    earlier.restart() if fault == "kill" else earlier.thaw()
    cluster.until_whole()
    assert cluster.replicas(replica) == [earlier]


@pytest.mark.topology
def test_a_replica_takes_over_in_order(cluster):
    fill(cluster)
    earlier = cluster.owner_of_slot(slots.SLOTS - 1)
    (replica,) = cluster.replicas(earlier)

    cluster.hand_over(replica)

    assert cluster.owner_of_slot(slots.SLOTS - 1) is replica
    assert cluster.replicas(replica) == [earlier]
    assert missing(cluster) == []


@pytest.mark.topology
def test_nodes_are_added_get_slots_give_them_back_and_are_removed(cluster):
    fill(cluster)
    giver = cluster.owner_of("{s0}:0")
    added = cluster.add_primary()
    replica = cluster.add_replica(added)
    part = [key_slot(f"{{s{shard}}}".encode()) for shard in range(16)]
    part = sorted(set(part) & set(cluster.slots_of(giver)))

    cluster.move_slots(giver, added, part)

    cluster.until_whole()
    assert cluster.slots_of(added) == part
    assert cluster.replicas(added) == [replica]
    assert missing(cluster) == []
    cluster.move_slots(added, giver, part)
    cluster.remove_node(replica)
    cluster.remove_node(added)
    assert all(len(view_of(node)) == 6 for node in cluster.nodes)
    assert missing(cluster) == []
