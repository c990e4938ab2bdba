"""Checks whether the site can use a store, stamps it as the site's, and upgrades older ones."""

import json
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeAlias
from uuid import uuid4

import redis

from articles.domain.errors import StoreUnfit
from articles.domain.lists import Order
from articles.domain.ranking import Parameters
from articles.repository.ranking.parameters import is_chosen_by_moderators, parameters_from, values_of
from articles.repository.search.index import ALL_INDEXED
from articles.repository.store import keys as names
from articles.repository.store.batches import ARTICLES_PER_STEP
from articles.repository.store.connection import Store, Value, exact_time
from articles.repository.store.keys import Keys
from articles.repository.store.scan import walk

Upgrade: TypeAlias = Callable[[Store], None]

LAYOUT_VERSION = 1
"""Version of the keys, as docs/data-model.md describes them."""

OLDEST_SERVER = (6, 2)

_POINTS = "points"
"""Field that exists once all articles are ranked by points."""

_CLOSES = "closes"
"""Field that exists once all articles have a closing time."""

_POSTED = "posted"
"""Field that exists once every shard lists its members' articles."""

_VOTERS = "voters"
"""Field that exists once no voter set expires."""

_UPGRADED: dict[str, Value] = {_POINTS: "ranked", _CLOSES: "fixed", _POSTED: "listed", _VOTERS: "kept"}
"""These fields in a store that needs no upgrade, as a new one does not."""

_WINDOW = "voting_window"
"""Field: the voting window, in seconds, of an older store's articles without a closing time."""

_SITE = "site"
"""Field: the site's random UUID."""

_CONFIGURED = "configured"
"""Field: votes per day as last adopted from the configuration; the lab may have changed them since."""

_AUTO = "auto"
"""Value of that field if the configuration leaves them to the site."""

_FORMER_DEFAULT = "200"
"""Value of that field after an earlier version of the site ran without a configured number."""


def check_server(store: Store) -> None:
    """Check the server's version and settings. One round trip.

    Raises StoreUnfit with one sentence for the operator, and StoreUnavailable.
    """
    try:
        with store.pipeline() as pipe:
            for section in ("server", "memory", "cluster"):
                pipe.info(section)
            _check({name: value for facts in pipe.execute() for name, value in facts.items()})
    except (redis.RedisError, ValueError) as error:  # no permission, no such database, another kind of server
        raise StoreUnfit(f"The store's replies are not those of a server the site supports: {error}") from error


def check_site(store: Store, known: str) -> None:
    """Check that the store is the one that the site used before. One round trip. Raises StoreUnfit."""
    with store.commands() as client:
        site = client.hget(names.SCHEMA, _SITE)
    if site == known:
        return
    state = "is another site's" if site else "is empty, but this site has used one before"
    raise StoreUnfit(
        f"The store {state}: start it with the right data or restore a backup. "
        "If it is meant to be used as it is, run `manage.py accept_store`."
    )


def stamp(store: Store) -> None:
    """Stamp an empty store as this site's, or check its stamp. Idempotent, also for concurrent processes.

    Six round trips. Raises StoreUnfit with one sentence for the operator, and StoreUnavailable.
    """
    new = {"version": LAYOUT_VERSION, "shards": store.shards.count, "indexed": ALL_INDEXED, **_UPGRADED}
    status, *others = store.run("schema/stamp", [names.SCHEMA], [part for field in new.items() for part in field])
    if status == "foreign":
        raise StoreUnfit(
            f"The store's database holds {others[0]} keys that are not this site's; give it an empty database."
        )
    _check_stamp(store)
    _write_parameters(store)


def _once(field: str) -> Callable[[Upgrade], Upgrade]:
    """Skip an upgrade if the stamp has its field, and write the field when it is complete."""

    def limit(upgrade: Upgrade) -> Upgrade:
        @wraps(upgrade)
        def upgrade_once(store: Store) -> None:
            with store.commands() as client:
                if client.hexists(names.SCHEMA, field):
                    return
            upgrade(store)
            with store.commands() as client:
                client.hset(names.SCHEMA, field, _UPGRADED[field])

        return upgrade_once

    return limit


@_once(_POINTS)
def rank_by_points(store: Store) -> None:
    """Build the ranking by points in an older store. In steps; can be interrupted safely and repeated."""
    for keys in store.shards.all:
        _step_through(store, keys, "schema/rank_points", [keys.order(Order.TIME)])


@_once(_CLOSES)
def fix_closing_times(store: Store) -> None:
    """Write closing times into the articles of an older store.

    In steps; can be interrupted safely and repeated, because `stamp` has stored the voting window before.
    """
    for keys in store.shards.all:
        for ranking in (keys.order(Order.TIME), keys.removed):
            _step_through(
                store,
                keys,
                "schema/set_closing_times",
                [ranking],
                lambda: (exact_time(store.now()), store.rules.voters_grace),
            )


@_once(_POSTED)
def list_posted(store: Store) -> None:
    """List members' articles in every shard of an older store.

    In steps; can be interrupted safely and repeated. The old lists, which shards shared, are dropped at the end.
    """
    for keys in store.shards.all:
        _step_through(store, keys, "schema/list_posted", [keys.order(Order.TIME), keys.removed])
    if store.shards.count > 1:
        _drop_shared_lists(store)


@_once(_VOTERS)
def keep_voters(store: Store) -> None:
    """Take the expiry off the voter sets of an older store. In steps; can be interrupted safely and repeated."""
    for keys in store.shards.all:
        for ranking in (keys.order(Order.TIME), keys.removed):
            _step_through(store, keys, "schema/keep_voters", [ranking])


def _step_through(
    store: Store,
    keys: Keys,
    script: str,
    rankings: Sequence[str],
    more: Callable[[], Sequence[Value]] = tuple,
) -> None:
    """Run a script repeatedly along one shard's rankings by time, until it returns an empty cursor."""
    cursor = "-inf"
    while cursor:
        (cursor,) = store.run(script, rankings, [keys.prefix, cursor, ARTICLES_PER_STEP, *more()])


def _drop_shared_lists(store: Store) -> None:
    for batch in walk(store):
        if shared := [name for name in batch if name.startswith("posted:")]:
            with store.commands() as client:
                client.unlink(*shared)


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
    if info.get("cluster_enabled"):
        raise StoreUnfit("The store is a cluster node; this site serves from a single server.")


def _write_parameters(store: Store) -> None:
    """Write parameters into shards without any. Needs a checked stamp: keys depend on the number of shards."""
    initial = _initial_parameters(store)
    with store.commands() as client:
        client.hsetnx(names.SCHEMA, _WINDOW, exact_time(store.rules.voting_window))
        window = client.hget(names.SCHEMA, _WINDOW)
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
    seconds_per_point = shards[0][named.index("seconds_per_point")]  # the only parameter of the oldest stores
    configured = store.rules.votes_per_day or Parameters().votes_per_day
    votes_per_day = round(86400 / float(seconds_per_point)) if seconds_per_point else configured
    return values_of(Parameters(votes_per_day)) | {"version": "1", "refreshed_at": now}


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
            "set it back, or export, start on an empty store (`manage.py accept_store`) and import."
        )


def votes_to_adopt(store: Store) -> int | None:
    """Return the configuration's votes per day if changed; None if not, or if it has none. One round trip."""
    with store.commands() as client:
        configured = client.hget(names.SCHEMA, _CONFIGURED)
    votes_per_day = store.rules.votes_per_day
    return None if configured == str(votes_per_day) else votes_per_day


def adopt(store: Store) -> bool:
    """Record the configuration's votes per day as adopted; return whether that leaves them to the site.

    The site keeps what moderators chose, unless the configuration had a number until now. At most four round
    trips.
    """
    ranking, votes_per_day = store.shards.directory.ranking, store.rules.votes_per_day
    configuration = _AUTO if votes_per_day is None else str(votes_per_day)
    with store.commands() as client:
        configured = client.hget(names.SCHEMA, _CONFIGURED)
        if configured == configuration:
            return False
        if votes_per_day is None and configured != _FORMER_DEFAULT:
            client.hset(ranking, "chosen", "0")
        elif votes_per_day is None:
            history = [json.loads(entry) for entry in client.lrange(store.shards.directory.tunings, 0, -1)]
            client.hsetnx(ranking, "chosen", str(int(is_chosen_by_moderators(history))))
        client.hset(names.SCHEMA, _CONFIGURED, configuration)
    return votes_per_day is None
