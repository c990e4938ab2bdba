"""Which kinds of keys a store holds and how many of each, counted or, in a large store, estimated."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from articles.repository.store.batches import KEYS_PER_SCAN
from articles.repository.store.connection import Store
from articles.repository.store.key_table import recognise

MOST_KEYS = 20_000
"""More keys than these are not looked at, so that the page costs the same in a store of any size."""

_MOST_SCANS = 2 * MOST_KEYS // KEYS_PER_SCAN

OTHER = ""
"""Kind of a key that no part of the site would have written."""


@dataclass(frozen=True, slots=True)
class KindCount:
    """How many keys of a kind there are."""

    kind: str
    keys: int


@dataclass(frozen=True, slots=True)
class Census:
    """Kinds by number, most first. `total` is exact; the kinds' numbers only if `exact`, else estimates."""

    total: int
    exact: bool
    kinds: tuple[KindCount, ...]


def count_keys(store: Store, most: int = MOST_KEYS) -> Census:
    """Look at up to about `most` keys and infer the rest: the order in which a store names its keys is random."""
    with store.commands() as client:
        total = int(client.dbsize())
    found, met, exact = _meet(store, most)
    scale = 1 if exact or not met else total / met
    kinds = (KindCount(kind, max(1, round(n * scale))) for kind, n in found.most_common())
    return Census(total, exact, tuple(kinds))


def _meet(store: Store, most: int) -> tuple[Counter[str], int, bool]:
    """Keys by kind, how many there were, and whether these are all."""
    found, met, cursor = Counter[str](), 0, 0
    for _ in range(_MOST_SCANS):
        with store.commands() as client:
            cursor, names = client.scan(cursor, count=KEYS_PER_SCAN)
        found.update(kinds_of(names))
        met += len(names)
        if cursor == 0 or met >= most:
            break
    return found, met, cursor == 0


def kinds_of(names: Iterable[str]) -> Iterator[str]:
    """Yield the kind of each key, as the key table names it; OTHER for a key that is not the site's."""
    return (key.name if key else OTHER for key in recognise(names))
