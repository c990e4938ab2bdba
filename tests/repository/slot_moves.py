"""Moving a slot of a cluster step by step, as an operator's tool does."""

from dataclasses import dataclass
from typing import Self

from redis.crc import key_slot

from tests.topologies.cluster import Cluster
from tests.topologies.node import HOST, Node
from tests.topologies.slots import id_of


@dataclass
class SlotMove:
    """A slot that two nodes have opened: the source has some of its keys, the target the others."""

    cluster: Cluster
    slot: int
    source: Node
    target: Node

    @classmethod
    def begin(cls, cluster: Cluster, key: str, target: Node | None = None) -> Self:
        """Open the slot of a key at its owner and at another primary."""
        source = cluster.owner_of(key)
        target = target or next(node for node in cluster.primaries() if node is not source)
        slot = key_slot(key.encode())
        target.run("CLUSTER", "SETSLOT", slot, "IMPORTING", id_of(source))
        source.run("CLUSTER", "SETSLOT", slot, "MIGRATING", id_of(target))
        return cls(cluster, slot, source, target)

    def keys_left(self) -> list[str]:
        return sorted(self.source.run("CLUSTER", "GETKEYSINSLOT", self.slot, 10_000))

    def carry(self, *keys: str) -> None:
        self.source.run("MIGRATE", HOST, self.target.port, "", 0, 10_000, "REPLACE", "KEYS", *keys)

    def finish(self) -> None:
        """Move what is left, and give the slot to the target. May be repeated."""
        if keys := self.keys_left():
            self.carry(*keys)
        others = [node for node in self.cluster.primaries() if node not in (self.source, self.target)]
        for node in (self.target, self.source, *others):
            node.run("CLUSTER", "SETSLOT", self.slot, "NODE", id_of(self.target))


def errors_at(node: Node) -> dict[str, int]:
    """Return how often a node has refused commands since `forget_errors`, by the error's first word."""
    facts = node.info("errorstats")
    return {name.removeprefix("errorstat_"): int(fact["count"]) for name, fact in facts.items()}  # type: ignore[index]


def forget_errors(cluster: Cluster) -> None:
    for node in cluster.nodes:
        node.run("CONFIG", "RESETSTAT")
