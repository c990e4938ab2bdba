"""Whether a store is one the site can use, and the stamp that says it is the site's."""

from typing import Any

from articles.domain import Rules
from articles.errors import StoreUnfit
from articles.repository import keys as names
from articles.repository.store import Store

LAYOUT_VERSION = 1
"""Version of the keys, as docs/data-model.md describes them."""

OLDEST_SERVER = (6, 2)

_RESCORING = "rescoring"


def check_server(store: Store) -> None:
    """Check version and settings. Raises StoreUnfit with one sentence for the operator, StoreUnavailable."""
    with store.commands() as client:
        _check(client.info())


def stamp(store: Store) -> None:
    """Stamp an empty store as this site's, or check the stamp it has. Safe to repeat.

    Raises StoreUnfit with one sentence for the operator, and StoreUnavailable.
    """
    with store.commands() as client:
        stamp = client.hgetall(names.SCHEMA)
        if not stamp and (others := client.dbsize()):
            raise StoreUnfit(
                f"The store's database holds {others} keys that are not this site's; give it an empty database."
            )
    _write_stamp(store)
    _check_stamp(store)
    _write_weights(store)


def _check(info: dict[str, Any]) -> None:
    text = str(info.get("valkey_version") or info["redis_version"])
    version = tuple(int(part) for part in text.split(".")[:2])
    if version < OLDEST_SERVER:
        raise StoreUnfit(f"The store is version {text}; 6.2 or newer is needed.")
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        raise StoreUnfit(
            f"The store may drop articles when its memory is full: set its maxmemory-policy "
            f"to noeviction (it is {policy})."
        )
    if info.get("cluster_enabled"):
        raise StoreUnfit("The store is a cluster node; this site serves from a single server.")


def _write_stamp(store: Store) -> None:
    with store.pipeline() as pipe:
        pipe.hsetnx(names.SCHEMA, "version", str(LAYOUT_VERSION))
        pipe.hsetnx(names.SCHEMA, "shards", str(store.shards.count))
        pipe.execute()


def _write_weights(store: Store) -> None:
    """Only into a store whose stamp is ours: another number of shards has other keys."""
    with store.pipeline() as pipe:
        for keys in store.shards.all:
            pipe.hsetnx(keys.ranking, "seconds_per_point", _exact(store.rules))
        pipe.execute()


def _check_stamp(store: Store) -> None:
    with store.commands() as client:
        stamp = client.hgetall(names.SCHEMA)
    if stamp["version"] != str(LAYOUT_VERSION):
        raise StoreUnfit(
            f"The store has layout {stamp['version']}, this site has layout {LAYOUT_VERSION}; "
            "run the version of the site that wrote it, or export there and import here."
        )
    if stamp["shards"] != str(store.shards.count):
        raise StoreUnfit(
            f"The store has {stamp['shards']} shards, STORE_SHARDS is {store.shards.count}; "
            "set it back, or export, start on an empty store and import."
        )


def _exact(rules: Rules) -> str:
    return f"{rules.seconds_per_point:.17g}"


def seconds_per_point(store: Store) -> float:
    """How far one point moves an article, as the store's rankings have it."""
    with store.commands() as client:
        return float(client.hget(store.shards.all[0].ranking, "seconds_per_point") or 0)


def adopt_rules(store: Store) -> bool:
    """Put the rules' seconds per point in force; returns whether `repair` has to score everything anew.

    What is ranked already keeps its score until `repair` has been over it, so the store remembers that it is
    due: a repair that was broken off is asked for again.
    """
    with store.pipeline() as pipe:
        pipe.hexists(names.SCHEMA, _RESCORING)
        for keys in store.shards.all:
            pipe.hget(keys.ranking, "seconds_per_point")
        due, *before = pipe.execute()
        wanted = _exact(store.rules)
        if all(value == wanted for value in before):
            return bool(due)
        pipe.hset(names.SCHEMA, _RESCORING, "1")
        for keys in store.shards.all:
            pipe.hset(keys.ranking, "seconds_per_point", wanted)
        pipe.execute()
    return True


def rescored(store: Store) -> None:
    """Forget that scoring everything anew was due: it is done."""
    with store.commands() as client:
        client.hdel(names.SCHEMA, _RESCORING)
