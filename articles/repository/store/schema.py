"""Whether a store is one the site can use, and the stamp that says it is the site's."""

import json
from collections.abc import Callable, Sequence
from typing import Any
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

LAYOUT_VERSION = 1
"""Version of the keys, as docs/data-model.md describes them."""

OLDEST_SERVER = (6, 2)

_POINTS = "points"
"""There once all articles are ranked by points."""

_WINDOW = "voting_window"
"""The voting window, in seconds, of articles that do not say when voting on them ends: of a store from before."""

_CLOSES = "closes"
"""There once all articles say when voting on them ends."""

_POSTED = "posted"
"""There once every shard lists what members posted."""

_SITE = "site"
"""A random UUID, made at the first start that knows of it."""

_CONFIGURED = "configured"
"""Votes per day as last adopted from the configuration; the lab may have changed them since."""

_AUTO = "auto"
"""The same where the configuration leaves them to the site."""

_FORMER_DEFAULT = "200"
"""The same where an earlier version of the site ran without any being configured."""


def check_server(store: Store) -> None:
    """Check version and settings. Raises StoreUnfit with one sentence for the operator, StoreUnavailable."""
    try:
        with store.commands() as client:
            _check(client.info())
    except (redis.RedisError, ValueError) as error:  # no permission, no such database, another kind of server
        raise StoreUnfit(f"The store answers in a way the site cannot work with: {error}") from error


def stamp(store: Store) -> None:
    """Stamp an empty store as this site's, or check the stamp it has. Safe to repeat, and for several at once.

    Raises StoreUnfit with one sentence for the operator, and StoreUnavailable.
    """
    new: dict[str, Value] = {"version": LAYOUT_VERSION, "shards": store.shards.count, "indexed": ALL_INDEXED}
    status, *others = store.run("schema/stamp", [names.SCHEMA], [part for field in new.items() for part in field])
    if status == "foreign":
        raise StoreUnfit(
            f"The store's database holds {others[0]} keys that are not this site's; give it an empty database."
        )
    _check_stamp(store)
    _write_parameters(store)


def rank_by_points(store: Store) -> None:
    """Make the ranking by points in a store that had none. Bounded steps, safe to repeat and to interrupt."""
    with store.commands() as client:
        if client.hexists(names.SCHEMA, _POINTS):
            return
    for keys in store.shards.all:
        _step_through(store, keys, "schema/rank_points", [keys.order(Order.TIME)])
    with store.commands() as client:
        client.hset(names.SCHEMA, _POINTS, "ranked")


def fix_closing_times(store: Store) -> None:
    """Write into the articles of a store from before when voting on them ends.

    Bounded steps, safe to repeat and to interrupt: the window was remembered before the first.
    """
    with store.commands() as client:
        if client.hexists(names.SCHEMA, _CLOSES):
            return
    for keys in store.shards.all:
        for ranking in (keys.order(Order.TIME), keys.removed):
            _step_through(
                store,
                keys,
                "schema/set_closing_times",
                [ranking],
                lambda: (exact_time(store.now()), store.rules.voters_grace),
            )
    with store.commands() as client:
        client.hset(names.SCHEMA, _CLOSES, "fixed")


def list_posted(store: Store) -> None:
    """List what each member posted in every shard, in a store from before the scripts did.

    Bounded steps, safe to repeat and to interrupt. The lists that several shards shared go in the end.
    """
    with store.commands() as client:
        if client.hexists(names.SCHEMA, _POSTED):
            return
    for keys in store.shards.all:
        _step_through(store, keys, "schema/list_posted", [keys.order(Order.TIME), keys.removed])
    if store.shards.count > 1:
        _drop_shared_lists(store)
    with store.commands() as client:
        client.hset(names.SCHEMA, _POSTED, "listed")


def _step_through(
    store: Store,
    keys: Keys,
    script: str,
    rankings: Sequence[str],
    more: Callable[[], Sequence[Value]] = tuple,
) -> None:
    """Run a script along one shard's rankings by time until its cursor comes back empty."""
    cursor = "-inf"
    while cursor:
        (cursor,) = store.run(script, rankings, [keys.prefix, cursor, ARTICLES_PER_STEP, *more()])


def _drop_shared_lists(store: Store) -> None:
    for found in walk(store):
        if shared := [name for name in found if name.startswith("posted:")]:
            with store.commands() as client:
                client.unlink(*shared)


def site_id(store: Store) -> str:
    """Return the UUID that tells this site from all others, whatever its address. One round trip."""
    with store.commands() as client:
        return str(client.hget(names.SCHEMA, _SITE))


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


def _write_parameters(store: Store) -> None:
    """Only into a store whose stamp is ours: another number of shards has other keys."""
    beginning = _beginning(store)
    with store.commands() as client:
        client.hsetnx(names.SCHEMA, _WINDOW, exact_time(store.rules.voting_window))
        window = client.hget(names.SCHEMA, _WINDOW)
    windows = {"voting_window": window, "longest_window": window}
    with store.pipeline() as pipe:
        pipe.hsetnx(names.SCHEMA, _SITE, str(uuid4()))
        pipe.hsetnx(names.SCHEMA, _CONFIGURED, beginning["votes_per_day"])
        for keys in store.shards.all:
            for name, value in (beginning | windows).items():
                pipe.hsetnx(keys.ranking, name, value)
        pipe.execute()


def _beginning(store: Store) -> dict[str, str]:
    """What a shard without parameters gets: another shard's, else the last of the history, else the configured."""
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
    weight = shards[0][named.index("seconds_per_point")]  # of a site that had no other parameters yet
    configured = store.rules.votes_per_day or Parameters().votes_per_day
    votes_per_day = round(86400 / float(weight)) if weight else configured
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
            "set it back, or export, start on an empty store and import."
        )


def votes_to_adopt(store: Store) -> int | None:
    """Votes per day that the configuration has and had not before; None where it has not changed, or has none."""
    with store.commands() as client:
        configured = client.hget(names.SCHEMA, _CONFIGURED)
    wanted = store.rules.votes_per_day
    return None if configured == str(wanted) else wanted


def adopt(store: Store) -> bool:
    """Remember the configuration's votes per day as adopted; whether they were left to the site by that.

    The site does not change what moderators chose, unless the configuration had a number of its own until now.
    """
    ranking, wanted = store.shards.directory.ranking, store.rules.votes_per_day
    configuration = _AUTO if wanted is None else str(wanted)
    with store.commands() as client:
        configured = client.hget(names.SCHEMA, _CONFIGURED)
        if configured == configuration:
            return False
        if wanted is None and configured != _FORMER_DEFAULT:
            client.hset(ranking, "chosen", "0")
        elif wanted is None:
            history = [json.loads(entry) for entry in client.lrange(store.shards.directory.tunings, 0, -1)]
            client.hsetnx(ranking, "chosen", str(int(is_chosen_by_moderators(history))))
        client.hset(names.SCHEMA, _CONFIGURED, configuration)
    return wanted is None
