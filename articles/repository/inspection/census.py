"""The census: how many keys of each kind a store holds, counted or, in a large store, estimated."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from articles.repository.store.batches import KEYS_PER_SCAN
from articles.repository.store.connection import Store
from articles.repository.store.key_table import recognise

MOST_KEYS = 20_000
"""Maximum number of keys to read, so that the operator's page costs the same for a store of any size."""

_MOST_SCANS = 2 * MOST_KEYS // KEYS_PER_SCAN

OTHER = ""
"""Kind of the keys that are not the site's."""


@dataclass(frozen=True, slots=True)
class KindCount:
    """The number of keys of a kind."""

    kind: str
    keys: int


@dataclass(frozen=True, slots=True)
class Census:
    """Kinds with their numbers of keys, largest first: estimates unless `exact`. `total` is always exact."""

    total: int
    exact: bool
    kinds: tuple[KindCount, ...]


def count_keys(store: Store, most: int = MOST_KEYS) -> Census:
    """Count keys by kind from a sample of about `most` keys: a store lists its keys in random order.

    One round trip per 1,000 keys of the sample, and one more.
    """
    servers, _ = store.inspect(("DBSIZE",))
    total = sum(int(count) for (count,) in servers)
    counts, sampled, exact = _sample(store, most)
    scale = 1 if exact or not sampled else total / sampled
    kinds = (KindCount(kind, max(1, round(n * scale))) for kind, n in counts.most_common())
    return Census(total, exact, tuple(kinds))


def _sample(store: Store, most: int) -> tuple[Counter[str], int, bool]:
    """Return a sample's keys by kind, its size, and whether it is all keys.

    Every server has an equal part in it.
    """
    counts, sampled, exact, servers = Counter[str](), 0, True, store.servers()
    for server in servers:
        part, cursor = 0, 0
        for _ in range(_MOST_SCANS):
            with store.commands():
                cursor, names = server.scan(cursor, count=KEYS_PER_SCAN)
            counts.update(kinds_of(names))
            part += len(names)
            if cursor == 0 or part >= most / len(servers):
                break
        sampled, exact = sampled + part, exact and cursor == 0
    return counts, sampled, exact


def kinds_of(names: Iterable[str]) -> Iterator[str]:
    """Yield the kind of each key, as the key table names it; OTHER for a key that is not the site's."""
    return (key.name if key else OTHER for key in recognise(names))
