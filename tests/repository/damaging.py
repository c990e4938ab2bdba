"""Damages to a store such as a flipped bit does: keys, members, fields and values that make no sense."""

from collections.abc import Callable, Mapping

import redis

from articles.repository import Repository
from articles.repository.store.keys import TABLE, recognise
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


def put_garbage(client: redis.Redis, name: str) -> None:
    """Add an entry, or replace every value of a hash, or the string."""
    add: Mapping[str, Callable[[], object]] = {
        "string": lambda: client.set(name, "garbage"),
        "list": lambda: client.lset(name, 0, "garbage"),
        "set": lambda: client.sadd(name, "garbage"),
        "zset": lambda: client.zadd(name, {"garbage": 10.0**12}),
        "hash": lambda: client.hset(name, mapping=dict.fromkeys(client.hkeys(name), "garbage")),
    }
    add[client.type(name)]()


DAMAGES: dict[str, Damage] = {"another type": replace_by_another_type, "an entry that is no number": put_garbage}

LOCKS = ("hot", "back", "tick", "weight", "forget", "import", "merge")
_SHORT_LIVED = (
    "next:score", "limit:votes:<user>", "limit:<action>:<subject>",
    *(f"lock:{lock}" for lock in LOCKS),
    "merging:", "confirmed:",
)  # fmt: skip
KINDS = tuple(kind.name for kind in TABLE if kind.name not in _SHORT_LIVED)
"""Kinds of keys of a store in use, without those that are gone after some seconds or minutes."""
