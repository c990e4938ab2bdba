"""A cluster of primaries, each with as many replicas as the others."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import redis
from redis.crc import key_slot

from tests.topologies import slots
from tests.topologies.cluster_view import own_view_of, view_of
from tests.topologies.node import HOST, Node
from tests.topologies.topology import Topology
from tests.waiting import until


class Cluster(Topology):
    """Three primaries with a replica each, unless other numbers are given; 1 and 0 make a single node.

    No node changes its role by itself but to replace its primary: an emptied primary stays one.
    """

    def __init__(
        self,
        folder: Path,
        binary: Path | None = None,
        *,
        primaries: int = 3,
        replicas_of_each: int = 1,
        node_timeout_ms: int = 1000,
        settings: dict[str, str] | None = None,
        **options: Any,
    ) -> None:
        own = {"cluster-enabled": "yes", "cluster-node-timeout": str(node_timeout_ms)}
        own["cluster-allow-replica-migration"] = "no"
        super().__init__(folder, binary, settings=own | (settings or {}), **options)
        self._primaries, self._replicas_of_each = primaries, replicas_of_each

    @property
    def url(self) -> str:
        return f"cluster://{self.credentials()}{','.join(node.address for node in self.nodes)}"

    def database(self, _number: int) -> str:
        return self.url

    def start(self) -> None:
        self.start_nodes(self._primaries * (1 + self._replicas_of_each))
        primaries, replicas = self.nodes[: self._primaries], self.nodes[self._primaries :]
        for part, primary in zip(slots.ranges(len(primaries)), primaries, strict=True):
            primary.run("CLUSTER", "ADDSLOTSRANGE", part[0], part[-1])
        for epoch, node in enumerate(self.nodes, 1):
            node.run("CLUSTER", "SET-CONFIG-EPOCH", epoch)
        for node in self.nodes[1:]:
            self._introduce(node)
        until(self._all_know_all, told=self.logs)
        for number, replica in enumerate(replicas):
            self._follow(replica, primaries[number % len(primaries)])
        self.until_whole()

    def _introduce(self, node: Node) -> None:
        self._up()[0].run("CLUSTER", "MEET", HOST, node.port, node.bus_port)

    def _follow(self, replica: Node, primary: Node) -> None:
        replica.run("CLUSTER", "REPLICATE", slots.id_of(primary))

    # Who is what

    def owner_of(self, key: str) -> Node:
        """Return the node that takes changes of this key."""
        return self.owner_of_slot(key_slot(key.encode()))

    def owner_of_slot(self, slot: int) -> Node:
        """Return the newest owner, if a node that came back claims the slot too."""
        claims = ((own_view_of(node), node) for node in self._up())
        owners = [(own, node) for own, node in claims if own.is_primary and slot in own.slots]
        return max(owners, key=lambda owner: owner[0].epoch)[1]

    def primaries(self) -> list[Node]:
        """Return the nodes that own slots, in the order of these."""
        owners = [(min(part), node) for node in self._up() if (part := self.slots_of(node))]
        return [node for _, node in sorted(owners, key=lambda owner: owner[0])]

    def replicas(self, primary: Node | None = None) -> list[Node]:
        """Return the replicas that are up, of one primary if it is given."""
        primary_id = None if primary is None else slots.id_of(primary)
        owns = ((own_view_of(node), node) for node in self._up())
        return [node for own, node in owns if not own.is_primary and primary_id in {None, own.primary_id}]

    def slots_of(self, node: Node) -> list[int]:
        """Return the slots that this node serves as their primary, in order."""
        own = own_view_of(node)
        return sorted(own.slots) if own.is_primary else []

    def _up(self) -> list[Node]:
        return [node for node in self.nodes if node.is_up]

    # Waiting

    def until_whole(self) -> None:
        """Wait until every node runs, serves all slots and agrees with the others; the replicas have the data."""
        until(self._is_whole, told=self.logs)

    def until_replicas_are_announced(self) -> None:
        """Wait until every node names every replica to clients: not before it knows that the replica has data."""
        count = len(self.replicas())
        until(lambda: all(slots.announced_replicas(node) == count for node in self._up()), told=self.logs)

    def until_serving(self) -> None:
        """Wait until every slot has an owner again, for all nodes that are up."""
        until(lambda: self._agree(self._up()), told=self.logs)

    def until_failed_over(self, slot: int, earlier: Node) -> Node:
        """Wait until another node owns the slot, for all that are up; return it."""
        others = [node for node in self._up() if node is not earlier]
        until(lambda: any(slot in self.slots_of(node) for node in others), told=self.logs)
        until(lambda: self._agree(others), told=self.logs)
        return self.owner_of_slot(slot)

    def _is_whole(self) -> bool:
        with suppress(redis.RedisError):
            replicas = self.replicas()
            counted = sum(node.connected_replicas() for node in self.nodes)
            are_in_step = counted == len(replicas) and all(replica.is_in_step() for replica in replicas)
            return are_in_step and self._all_know_all() and self._agree(self.nodes)
        return False

    def _all_know_all(self) -> bool:
        return all(
            len(view) == len(self.nodes) and all(member.is_known for member in view)
            for view in map(view_of, self.nodes)
        )

    def _agree(self, nodes: list[Node]) -> bool:
        """Return whether these nodes serve, and know the same owner of every slot."""
        with suppress(redis.RedisError):
            owners = {
                frozenset((member.id, member.slots) for member in view_of(node) if member.slots) for node in nodes
            }
            return len(owners) == 1 and all("cluster_state:ok" in node.text("CLUSTER", "INFO") for node in nodes)
        return False

    # Changes

    def add_primary(self) -> Node:
        """Start a node without slots; return when it is a member that can be given some."""
        node = self.start_node()
        self._introduce(node)
        self.until_whole()
        return node

    def add_replica(self, primary: Node) -> Node:
        """Start a replica of this node; return when it has the data."""
        node = self.add_primary()
        self._follow(node, primary)
        self.until_whole()
        return node

    def remove_node(self, node: Node) -> None:
        """End a replica, or a primary whose slots have been moved away, and let the others forget it."""
        assert not self.slots_of(node), f"{node} still owns slots"
        node_id = slots.id_of(node)
        self.nodes.remove(node)
        node.discard()
        for other in self._up():
            other.run("CLUSTER", "FORGET", node_id)
        self.until_serving()

    def move_slots(self, source: Node, target: Node, part: list[int] | range) -> None:
        """Move these slots with their keys, one by one, while clients go on."""
        others = [node for node in self.primaries() if node not in {source, target}]
        for slot in part:
            slots.move(slot, source, target, others, password=self.password)

    def hand_over(self, replica: Node) -> None:
        """Make a replica the primary as an operator does, without losing a change; return when all know."""
        replica.run("CLUSTER", "FAILOVER")
        until(lambda: replica.is_primary, told=self.logs)
        self.until_serving()
