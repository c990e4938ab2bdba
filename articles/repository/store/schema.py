"""Checks whether the site can use a store, and stamps it as the site's."""

import json
from typing import Any
from uuid import uuid4

import redis

from articles.domain.errors import StoreUnfit
from articles.domain.ranking import Parameters
from articles.domain.store_address import ANY_SITE
from articles.repository.store import keys as names, permissions
from articles.repository.store.connection import Store, Value, exact_time
from articles.repository.store.scan import walk
from articles.repository.store.values import parameters_from, values_of

LAYOUT_VERSION = 7  # version of the keys, as docs/data-model.md describes them; `upkeep/upgrades.py` leads to it
OLDEST_LAYOUT = 7  # layout of `OLDEST_VERSION`: the oldest from which an upgrade leads here
OLDEST_VERSION = "0.5.0"  # the oldest version whose stores and backups this one reads

RESTORING = "restoring"
"""Field that names the backup that is being restored into the store, until all of it is there."""

OF_A_MOVE = ("moved_to", "moved_from", "move")
"""Fields of a store that version 0.5.0 was moving to another one, or from there."""

OLDEST_SERVER = (6, 2)

SHARDS_OF_A_CLUSTER = 16
"""Shards that a cluster should have at least, so that they can be spread over several nodes."""

_SITE = "site"  # field: the site's random UUID
_REMEMBERED = "remembered"  # field: present once an accounts database remembers the store

_CONFIGURED = "configured"
"""Field: votes per day as last adopted from the configuration; moderators may have changed them since."""

_AUTO = "auto"  # value of that field if the configuration leaves them to the site


def check(store: Store, known_site: str | None) -> None:
    """Check all that a start refuses, changing nothing. Raises StoreUnfit, StoreUnavailable.

    Seven round trips; on a cluster, three more for each server. `known_site`: see `check_site`.
    """
    check_server(store)
    check_restored(store)
    check_site(store, known_site)
    check_stamp(store)


def check_server(store: Store) -> None:
    """Check the permissions, the version and the settings of every server. Three round trips to each of them.

    Raises StoreUnfit with one sentence for the operator, and StoreUnavailable.
    """
    try:
        permissions.check(store)
        sections = (("INFO", section) for section in ("server", "memory", "cluster"))
        servers, _ = store.inspect(*sections)
        for replies in servers:
            for reply in replies:
                if isinstance(reply, Exception):
                    raise reply
            info = {name: value for facts in replies for name, value in facts.items()}
            _check(info)
            _check_topology(store, is_node=bool(info.get("cluster_enabled")))
    except (redis.RedisError, ValueError) as error:  # no permission, no such database, another kind of server
        raise StoreUnfit(f"The store's replies are not those of a server the site supports: {error}") from error


def check_site(store: Store, known: str | None) -> None:
    """Check that the store is the one that the accounts remember, ANY_SITE for any.

    If they remember none, no accounts may remember the store: then these are others. One round trip. Raises
    StoreUnfit.
    """
    with store.commands() as client:
        site, is_remembered = client.hmget(names.SCHEMA, _SITE, _REMEMBERED)
    if known in (site, ANY_SITE) or (known is None and not is_remembered):
        return
    if known is None:
        found, right = "has been used with accounts before, but the accounts database is new", "the right accounts"
    elif site:
        found, right = "is another site's", "the right data"
    else:
        found, right = "is empty, but this site has used one before", "the right data"
    raise StoreUnfit(
        f"The store {found}: start the site with {right}, or restore a backup. "
        "If both are meant to be used as they are, run `manage.py accept_store`."
    )


def note_remembered(store: Store) -> None:
    """Record that accounts remember the store. One round trip."""
    with store.commands() as client:
        client.hsetnx(names.SCHEMA, _REMEMBERED, "1")


def check_restored(store: Store) -> None:
    """Check that the store is no unfinished restore of a backup. One round trip. Raises StoreUnfit."""
    with store.commands() as client:
        is_restoring = client.hexists(names.SCHEMA, RESTORING)
    if is_restoring:
        raise StoreUnfit(
            "A backup is being restored into the store, or its restore was interrupted: "
            "wait, or run `manage.py restore` again."
        )


def layout_of(store: Store) -> int:
    """Return the version of the store's layout; 0 for a store that is not stamped. One round trip."""
    with store.commands() as client:
        return int(client.hget(names.SCHEMA, "version") or 0)


def stamp(store: Store) -> None:
    """Stamp an empty store as this site's, or check its stamp. Idempotent, even for concurrent processes.

    Five round trips. Raises StoreUnfit with one sentence for the operator, and StoreUnavailable.
    """
    new: dict[str, Value] = {"version": LAYOUT_VERSION, "shards": store.shards.count}
    fields = [part for field in new.items() for part in field]
    status, *others = store.run("schema/stamp", [names.SCHEMA], [_keys_elsewhere(store), *fields])
    if status == "foreign":
        raise _foreign(others[0])
    check_stamp(store)
    _write_parameters(store)


def _foreign(keys: int) -> StoreUnfit:
    return StoreUnfit(
        f"The store's database holds {keys} keys that are not this site's; give it an empty database."
    )


def _keys_elsewhere(store: Store) -> int:
    """Return the keys on the nodes of a cluster that an unstamped store holds; 0 where a script can count all."""
    if not store.is_cluster or layout_of(store):
        return 0
    with store.commands() as client:
        return int(client.dbsize())


def clear(store: Store) -> None:
    """Delete all but the stamp and the highest ids, atomically but on a cluster. Two round trips. Repeatable."""
    if store.is_cluster:
        for batch in walk(store):
            with store.pipeline() as pipe:
                for name in batch:
                    if name not in (names.SCHEMA, names.ACCOUNTS, names.COUNTER):
                        pipe.unlink(name)
                pipe.execute()
        return
    with store.pipeline() as pipe:
        pipe.hgetall(names.SCHEMA)
        pipe.hgetall(names.ACCOUNTS)
        pipe.get(names.COUNTER)
        stamp, accounts, last_id = pipe.execute()
    with store.commands() as client, client.pipeline(transaction=True) as pipe:
        pipe.flushdb()
        pipe.hset(names.SCHEMA, mapping=stamp)
        if accounts:
            pipe.hset(names.ACCOUNTS, mapping=accounts)
        pipe.set(names.COUNTER, last_id or 0)
        pipe.execute()


def site_id(store: Store) -> str:
    """Return the UUID that identifies this site independently of its address. One round trip."""
    with store.commands() as client:
        return str(client.hget(names.SCHEMA, _SITE))


def _check(info: dict[str, Any]) -> None:
    text = str(info.get("valkey_version") or info["redis_version"])
    version = tuple(int(part) for part in text.split(".")[:2])
    if version < OLDEST_SERVER:
        raise StoreUnfit(f"The store is version {text}; 6.2 or newer is required.")
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        raise StoreUnfit(
            f"The store may drop articles when its memory is full: set its maxmemory-policy "
            f"to noeviction (it is {policy})."
        )


def _check_topology(store: Store, *, is_node: bool) -> None:
    if is_node and not store.is_cluster:
        raise StoreUnfit("The store is a cluster's node: set REDIS_URL to cluster://host:port,host:port,…")
    if store.is_cluster and store.shards.count == 1:
        raise StoreUnfit(
            "On a cluster the articles have to be in several shards, or one node would hold them all: "
            f"set STORE_SHARDS to {SHARDS_OF_A_CLUSTER} or more."
        )


def _write_parameters(store: Store) -> None:
    """Write parameters into shards without any. Needs a checked stamp: keys depend on the number of shards."""
    initial, window = _initial_parameters(store), exact_time(store.rules.voting_window)
    times = {"voting_window": window, "longest_window": window, "clock": exact_time(store.now())}
    with store.pipeline() as pipe:
        pipe.hsetnx(names.SCHEMA, _SITE, str(uuid4()))
        pipe.hsetnx(names.SCHEMA, _CONFIGURED, initial["votes_per_day"])
        for keys in store.shards.all:
            for name, value in (initial | times).items():
                pipe.hsetnx(keys.ranking, name, value)
        pipe.execute()


def _initial_parameters(store: Store) -> dict[str, str]:
    """Return parameters for a shard without any: another shard's, else the history's last, else configured."""
    directory, now = store.shards.directory, exact_time(store.now())
    named = (*values_of(Parameters()), "version", "refreshed_at")
    with store.pipeline() as pipe:
        for keys in store.shards.all:
            pipe.hmget(keys.ranking, named)
        pipe.lindex(directory.tunings, 0)
        *shards, newest = pipe.execute()
    for values in shards:
        if None not in values:
            return dict(zip(named, values, strict=True))
    if newest:
        entry = json.loads(newest)
        values = values_of(parameters_from(entry["parameters"]))
        return values | {"version": str(entry["version"]), "refreshed_at": now}
    configured = Parameters(store.rules.votes_per_day) if store.rules.votes_per_day else Parameters()
    return values_of(configured) | {"version": "1", "refreshed_at": now}


def check_stamp(store: Store) -> None:
    """Check a stamped store's layout, and that others are empty. Raises StoreUnfit. Two round trips."""
    with store.commands() as client:
        keys = client.dbsize()  # before the stamp, which another process may be writing
        stamp = client.hgetall(names.SCHEMA)
    if keys and not stamp:
        raise _foreign(keys)
    if not stamp:
        return
    layout = stamp["version"]
    if not layout.isdigit() or int(layout) > LAYOUT_VERSION:
        raise StoreUnfit(
            f"The store has layout {layout}, this site has layout {LAYOUT_VERSION}: "
            "run the version of the site that wrote it, or a newer one."
        )
    if int(layout) < OLDEST_LAYOUT:
        raise StoreUnfit(
            f"The store has layout {layout}, this site upgrades from layout {OLDEST_LAYOUT} on: start version "
            f"{OLDEST_VERSION} of the site on it first, which upgrades it."
        )
    if not stamp.keys().isdisjoint(OF_A_MOVE):
        raise StoreUnfit(
            "Version 0.5.0 began to move the site to another store, or has moved it: end that with 0.5.0 "
            "(`manage.py move_store --confirm`), then set REDIS_URL and STORE_SHARDS to the store of the site."
        )
    if stamp["shards"] != str(store.shards.count):
        raise StoreUnfit(
            f"The store has {stamp['shards']} shards, STORE_SHARDS is {store.shards.count}; "
            "set it back. `manage.py restore` restores a backup into an empty store with any number of shards."
        )


def votes_to_adopt(store: Store) -> int | None:
    """Return the configuration's votes per day if changed; None if not, or if it has none. One round trip."""
    with store.commands() as client:
        configured = client.hget(names.SCHEMA, _CONFIGURED)
    votes_per_day = store.rules.votes_per_day
    return None if configured == str(votes_per_day) else votes_per_day


def adopt(store: Store) -> bool:
    """Record the configuration's votes per day as adopted; return whether that leaves them to the site.

    The site keeps what moderators chose, unless the configuration had a number until now. At most three round
    trips.
    """
    ranking, votes_per_day = store.shards.directory.ranking, store.rules.votes_per_day
    configuration = _AUTO if votes_per_day is None else str(votes_per_day)
    with store.commands() as client:
        configured = client.hget(names.SCHEMA, _CONFIGURED)
        if configured == configuration:
            return False
        if votes_per_day is None:
            client.hset(ranking, "chosen", "0")
        client.hset(names.SCHEMA, _CONFIGURED, configuration)
    return votes_per_day is None
