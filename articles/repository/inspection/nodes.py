"""The primaries of a store: what each holds, and how its replicas follow. Read-only."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import redis
from redis.crc import key_slot

from articles.repository.store.clients.cluster import ClusterClient
from articles.repository.store.connection import Store


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """One primary. `slots`: of its shards, on a cluster; `lag`: seconds since its slowest replica reported."""

    name: str
    slots: tuple[int, ...]
    replicas: int
    lag: int


def list_nodes(store: Store) -> tuple[NodeFacts, ...]:
    """Return the facts of each primary. One round trip; on a cluster, one more to each primary.

    Raises redis.ResponseError if one does not permit INFO.
    """
    if not isinstance(store.client, ClusterClient):
        with store.commands() as client:
            return (_facts("", (), client.info("replication")),)
    slots: dict[str, list[int]] = {}
    for keys in store.shards.all:
        with store.commands() as client:
            place = _name(client.nodes.owner_of(keys.prefix))
        slots.setdefault(place, []).append(key_slot(keys.prefix.encode()))
    nodes = []
    for server in store.servers():
        with store.commands():
            nodes.append(_facts(_name(server), tuple(slots.get(_name(server), ())), server.info("replication")))
    return tuple(nodes)


def _name(server: redis.Redis) -> str:
    place = server.connection_pool.connection_kwargs
    return f"{place['host']}:{place['port']}"


def _facts(name: str, slots: tuple[int, ...], info: Mapping[str, Any]) -> NodeFacts:
    """Read the lines `slave0:ip=…,port=…,state=online,offset=…,lag=0`, which redis-py parses."""
    replicas = [fact for name, fact in info.items() if name.startswith("slave") and isinstance(fact, dict)]
    online = [replica for replica in replicas if replica.get("state") == "online"]
    return NodeFacts(name, slots, len(online), max((int(replica.get("lag", 0)) for replica in online), default=0))


def surplus(nodes: tuple[NodeFacts, ...]) -> tuple[NodeFacts, int]:
    """Return the primary with the most shards, and how many another one could take from it."""
    counts = Counter({node.name: len(node.slots) for node in nodes})
    fullest = max(nodes, key=lambda node: len(node.slots))
    return fullest, max(0, len(fullest.slots) - -(-counts.total() // len(nodes)))
