"""Which node of a cluster has which shards, with the slots spread as `redis-cli --cluster create` does."""

import math
from collections.abc import Sequence

from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot

NODES, SHARDS = (3, 4, 6, 8), (4, 8, 16, 32, 48, 64)
"""What the table of docs/scaling.md shows."""


def shards_by_node(shards: int, nodes: int) -> list[int]:
    """Return how many shards each node has."""
    counts = [0] * nodes
    for shard in range(shards):
        counts[_node_of(key_slot(b"s%d" % shard), nodes)] += 1
    return counts


def _node_of(slot: int, nodes: int) -> int:
    of_each = REDIS_CLUSTER_HASH_SLOTS / nodes
    for node in range(nodes - 1):
        if slot <= _rounded(of_each * (node + 1) - 1):
            return node
    return nodes - 1


def _rounded(value: float) -> int:
    """Round halves up, as C does."""
    return int(value + 0.5)


def even_share(shards: int, nodes: int) -> float:
    """Return the share of the articles on the busiest node, if slots are moved until all have about the same.

    Each shard is in one slot, so any of them can be moved alone.
    """
    return math.ceil(shards / nodes) / shards


def table() -> str:
    """Return the shards of each node as a table in Markdown."""
    head = ["shards", *(f"{nodes} nodes" for nodes in NODES)]
    rows = [[str(shards), *(_cell(shards, nodes) for nodes in NODES)] for shards in SHARDS]
    lines: Sequence[Sequence[str]] = [head, ["---:"] + ["---"] * len(NODES), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def _cell(shards: int, nodes: int) -> str:
    counts = shards_by_node(shards, nodes)
    return f"{counts[0]} each" if len(set(counts)) == 1 else " / ".join(map(str, counts))
