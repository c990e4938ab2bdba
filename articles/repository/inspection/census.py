"""Which kinds of keys a store holds and how many of each, counted or, in a large store, estimated."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from articles.repository.store.connection import Store

MOST_KEYS = 20_000
"""More keys than these are not looked at, so that the page costs the same in a store of any size."""

_PER_SCAN = 1000
_MOST_SCANS = 2 * MOST_KEYS // _PER_SCAN

OTHER = ""
"""Kind of a key that no part of the site would have written."""

KINDS = (
    *("article:<id>", "voted:<id>", "oppose:<id>", "score:", "time:", "removed:", "group:<slug>"),
    *("score:<slug>", "time:<slug>", "hot:score", "hot:score:<slug>", "next:score"),
    *("points:", "points:<slug>", "top:<span>"),
    *("counter:views:<id>", "hll:uv:<id>", "counter:suspect:<id>", "days:<id>", "days:", "hll:day:<day>"),
    *("seen:<id>:<visitor>", "burst:<id>:<network>", "burst:<network>", "viewed:", "history:<id>"),
    *("word:<word>", "words:"),
    *("posted:<user>", "votes:<user>", "opposes:<user>", "gone:"),
    *("ranking:", "tunings:", "log:", "groups:", "merged:"),
    *(
        "article:",
        "link:<digest>",
        "saved:<user>",
        "schema:",
        "shift:<digest>",
        "salt:<day>",
        "tick:",
    ),
    *("lock:import", "lock:hot", "lock:back", "lock:tick", "lock:weight", "lock:forget"),
)
"""As docs/data-model.md names them; a shard's prefix does not matter."""

_VARIABLES = {
    **dict.fromkeys(("<id>", "<user>"), "[1-9][0-9]*"),
    **dict.fromkeys(("<digest>", "<visitor>", "<network>"), "[0-9a-f]+"),
    "<day>": "[0-9]+",
    "<span>": "(?:day|week|month)",
    "<slug>": "(?s:[^:]+)",
    "<word>": "(?s:[^:]+)",
}


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
            cursor, names = client.scan(cursor, count=_PER_SCAN)
        found.update(kinds_of(names))
        met += len(names)
        if cursor == 0 or met >= most:
            break
    return found, met, cursor == 0


def kinds_of(names: Iterable[str]) -> Iterable[str]:
    """The kind of each key; OTHER for those that are not the site's."""
    match = _pattern().fullmatch
    for name in names:
        found = match(name)
        yield KINDS[found.lastindex - 1] if found and found.lastindex else OTHER


@cache
def _pattern() -> re.Pattern[str]:
    """One group for each kind, in their order."""
    return re.compile(rf"(?:\{{s\d+\}}:)?(?:{'|'.join(f'({_form(kind)})' for kind in KINDS)})")


def _form(kind: str) -> str:
    return "".join(_VARIABLES.get(part) or re.escape(part) for part in re.split("(<[a-z]+>)", kind) if part)
