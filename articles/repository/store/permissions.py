"""What the site's user of a server needs: commands, and keys. `deploy/store.acl` is written from here.

Whether the user has them is asked without running any: a server checks the permissions of a command when it is
queued in a transaction, and the transaction is discarded.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

import redis

from articles.domain.errors import StoreUnfit
from articles.repository.store.connection import Store, Value
from articles.repository.store.keys import TABLE, Place

_TRIED = {
    "": "DBSIZE INFO PING TIME",
    "KEY": "DEL EXISTS GET HGETALL HKEYS HLEN HVALS INCR LLEN LPOP MGET PERSIST PFADD PFCOUNT PFMERGE PTTL RPOP "
    "SCARD SINTER SMEMBERS TTL TYPE UNLINK ZCARD",
    "KEY 0": "EXPIRE HDEL HEXISTS HGET HMGET HSCAN HSTRLEN INCRBY LINDEX LPUSH PEXPIRE SADD SET SISMEMBER "
    "SMISMEMBER SRANDMEMBER SREM SSCAN ZMSCORE ZREM ZSCAN ZSCORE",
    "KEY KEY": "RENAME",
    "KEY 0 0": "HINCRBY HSET HSETNX LRANGE LSET ZADD ZCOUNT ZRANGE ZRANGEBYSCORE ZREMRANGEBYRANK "
    "ZREMRANGEBYSCORE ZREVRANGE ZREVRANGEBYSCORE",
    "KEY 1 KEY": "ZINTERSTORE",
    "KEY KEY 0 0": "ZRANGESTORE",
    "1 KEY": "ZINTER",
    "0": "SCAN SCRIPT|EXISTS SCRIPT|LOAD",
    "0 0": "EVAL EVALSHA",
}
"""Commands of the site and of its scripts, by the words with which they are tried."""

FORGETTING = "BGREWRITEAOF"  # the command with which housekeeping lets the append-only file forget

_HELPFUL = {"": FORGETTING, "0": "CONFIG|GET SLOWLOG|GET"}
"""Commands without which the site works, but the file forgets nothing, or the operator sees less."""

_OTHERS = "MULTI EXEC DISCARD SELECT WAIT FLUSHDB ASKING READONLY CLUSTER|NODES CLUSTER|SLOTS"
"""Not tried: of transactions, for the second database, STORE_CONFIRM_REPLICAS, a restore, and clusters."""

_CACHE = "cache"  # beginning of the keys of Django's cache, with sessions and feeds
_CHANGE = "CHANGE-THIS"  # instead of a password
_NAMED = 10  # commands and keys that a sentence names

_OF_KEYS = re.compile("access (?:a|one of the|the)\\b.* keys?")
"""What an error says of a key that is not permitted, other than of a command."""


def _nouns(prefix: str) -> list[str]:
    """Return the beginnings of all keys, in a shard with this prefix, and outside of the shards."""
    return sorted({prefix * (key.place is not Place.OUTSIDE) + key.name.partition(":")[0] for key in TABLE})


def as_acl() -> str:
    """Return a server's ACL file: a user for the operator, and one for the site, with one shard or several."""
    keys = (f"~{noun}:*" for noun in (*_nouns(""), "{s*}", _CACHE))
    commands = sorted(" ".join([*_TRIED.values(), *_HELPFUL.values(), _OTHERS]).lower().split())
    site = " ".join(["resetchannels", *keys, *(f"+{command}" for command in commands)])
    return f"user default off\nuser operator on >{_CHANGE} ~* &* +@all\nuser site on >{_CHANGE} {site}\n"


def check(store: Store) -> None:
    """Check that the site's user has what it needs. Raises StoreUnfit. Round trips as `list_missing`."""
    if missing := list_missing(store):
        more = len(missing) - _NAMED
        named = ", ".join(missing[:_NAMED]) + (f" and {more} more" if more > 0 else "")
        raise StoreUnfit(
            f"The store does not permit {named} to the site's user: give it the rules in deploy/store.acl."
        )


def list_missing(store: Store) -> list[str]:
    """Return what a server does not permit. Two round trips to each. Raises StoreUnfit without transactions."""
    nouns = _nouns(store.shards.directory.prefix)
    tried = _try(store, _commands(_TRIED, nouns[0]) | {f"{noun}:*": (b"UNLINK", f"{noun}:") for noun in nouns})
    return sorted({name for name, error in tried if _is_denied(error, of_keys="*" in name)})


def list_denied(store: Store) -> list[str]:
    """Return the helpful commands that a server does not permit, or does not have. As `list_missing`."""
    tried = _try(store, _commands(_HELPFUL, _nouns(store.shards.directory.prefix)[0]))
    return sorted({name.replace("|", " ") for name, error in tried if is_lacking(error)})


def is_lacking(error: Exception) -> bool:
    """Return whether a server said that it does not permit a command, or does not have it."""
    return _is_denied(error, of_keys=False) or "unknown" in str(error).lower()


def _commands(by_words: Mapping[str, str], noun: str) -> dict[str, Sequence[Value | bytes]]:
    """Return each command with its words, by its name in rules."""
    return {
        name: (name.partition("|")[0].encode(), *name.split("|")[1:], *words.replace("KEY", f"{noun}:").split())
        for words, names in by_words.items()
        for name in names.split()
    }


def _try(store: Store, commands: Mapping[str, Sequence[Value | bytes]]) -> Iterator[tuple[str, Exception]]:
    """Yield each command, as bytes, that a server refuses to queue, with its error."""
    begin, end = (b"MULTI",), (b"DISCARD",)
    for replies in store.inspect(begin, end)[0]:
        for error in replies:
            if isinstance(error, redis.exceptions.NoPermissionError):
                raise StoreUnfit(f"The store permits no transactions to the site's user: {error}") from error
            if isinstance(error, Exception):
                raise error  # without a transaction, all others would be run
    for _multi, *replies, _discard in store.inspect(begin, *commands.values(), end)[0]:
        for name, reply in zip(commands, replies, strict=True):
            if isinstance(reply, redis.ResponseError):
                yield name, reply


def _is_denied(error: Exception, *, of_keys: bool) -> bool:
    is_denied = isinstance(error, redis.exceptions.NoPermissionError)
    return is_denied and bool(_OF_KEYS.search(str(error))) is of_keys
