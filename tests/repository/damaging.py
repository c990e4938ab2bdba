"""Damages to a store such as a flipped bit does: keys, members, fields and values that make no sense."""

from collections.abc import Callable, Mapping

import redis

from articles.repository import Repository
from articles.repository.store.key_table import TABLE, recognise
from tests.every_server import names_in

Damage = Callable[[redis.Redis, str], object]


def victim(repository: Repository, kind: str) -> str:
    """Return the last key of a kind in the store."""
    names = sorted(names_in(repository.store.client))
    return max(name for name, known in zip(names, recognise(names), strict=True) if known and known.name == kind)


def replace_by_another_type(client: redis.Redis, name: str) -> None:
    is_text = client.type(name) == "string"
    client.delete(name)
    if is_text:
        client.rpush(name, "x")
    else:
        client.set(name, "x")


def _put(garbage: str | bytes) -> Damage:
    """Return a damage that adds an entry, or replaces every value of a hash, or the string, by this garbage."""

    def put(client: redis.Redis, name: str) -> None:
        add: Mapping[str, Callable[[], object]] = {
            "string": lambda: client.set(name, garbage),
            "list": lambda: client.lset(name, 0, garbage),
            "set": lambda: client.sadd(name, garbage),
            "zset": lambda: client.zadd(name, {garbage: 10.0**12}),
            "hash": lambda: client.hset(name, mapping=dict.fromkeys(client.hkeys(name), garbage)),
        }
        add[client.type(name)]()

    return put


def shorten(client: redis.Redis, name: str) -> None:
    """Cut the newest entry of a list, or the values of a hash, in the middle."""
    if client.type(name) == "list":
        text = client.lindex(name, 0)
        client.lset(name, 0, text[: len(text) // 2])
    elif client.type(name) == "hash":
        client.hset(
            name, mapping={field: value[: len(value) // 2] for field, value in client.hgetall(name).items()}
        )
    else:
        _put("")(client, name)


def rank_without_measure(client: redis.Redis, name: str) -> None:
    if client.type(name) == "zset":
        client.zadd(name, dict.fromkeys(client.zrange(name, 0, 0), float("inf")))
    else:
        _put("1e999")(client, name)


DAMAGES: dict[str, Damage] = {
    "another type": replace_by_another_type,
    "an entry that is no number": _put("garbage"),
    "bytes that are no text": _put(b"\xff\xfe{"),
    "half of it": shorten,
    "an infinite score": rank_without_measure,
}

LOCKS = ("hot", "back", "tick", "weight", "forget", "import", "merge")
_SHORT_LIVED = (
    "next:score",
    "limit:votes:<user>",
    "limit:<action>:<subject>",
    *(f"lock:{lock}" for lock in LOCKS),
    *("merging:", "confirmed:"),
)
KINDS = tuple(kind.name for kind in TABLE if kind.name not in _SHORT_LIVED)
"""Kinds of keys of a store in use, without those that are gone after some seconds or minutes."""

_TEXTS = ("article:<id>", "groups:", "descriptions:", "merged:", "ranking:", "schema:", "salt:<day>", "words:")
_TEXTS += ("leftout:acts:",)  # an act that makes no sense counts as complete
_TEXTS += ("comment:words:",)  # a word of no comment is named, not its list
_TEXTS += ("visits:<user>",)  # a visit that makes no sense counts as none
UNNOTICED = {
    (kind, how) for kind in _TEXTS for how in ("an entry that is no number", "half of it", "an infinite score")
}
"""Damages that leave a text where the site accepts any."""
