"""Hash slots of a cluster: ranges, and moving a slot between two nodes under load."""

from collections.abc import Iterable
from itertools import pairwise

from tests.topologies.node import HOST, Node

SLOTS = 16384
_KEYS_AT_ONCE = 100
_PATIENCE_MS = 10_000


def ranges(primaries: int) -> list[range]:
    """Return as many contiguous ranges as `redis-cli --cluster create` deals."""
    bounds = [round(number * SLOTS / primaries) for number in range(primaries + 1)]
    return [range(first, after) for first, after in pairwise(bounds)]


def id_of(node: Node) -> str:
    return node.text("CLUSTER", "MYID")


def announced_replicas(node: Node) -> int:
    """Return how many replicas a node names to clients that ask for the slots."""
    return len({replica[2] for _, _, _, *replicas in node.run("CLUSTER", "SLOTS") for replica in replicas})


def move(slot: int, source: Node, target: Node, others: Iterable[Node], *, password: str = "") -> None:
    """Move a slot with its keys from one primary to another, and tell the other primaries."""
    target_id = id_of(target)
    target.run("CLUSTER", "SETSLOT", slot, "IMPORTING", id_of(source))
    source.run("CLUSTER", "SETSLOT", slot, "MIGRATING", target_id)
    secret = ["AUTH", password] if password else []
    while keys := source.run("CLUSTER", "GETKEYSINSLOT", slot, _KEYS_AT_ONCE):
        source.run("MIGRATE", HOST, target.port, "", 0, _PATIENCE_MS, "REPLACE", *secret, "KEYS", *keys)
    for node in (target, source, *others):  # the target first, so that the slot always has an owner
        node.run("CLUSTER", "SETSLOT", slot, "NODE", target_id)
