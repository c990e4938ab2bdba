"""The topology that the tests run on: TOPOLOGY in the environment, one embedded server by default."""

import os
import runpy
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest
from django.conf import settings
from django.db import connections
from django.test import override_settings

from tests import postgres_server
from tests.postgres_server import PostgresServer
from tests.topologies import binaries
from tests.topologies.cluster import Cluster
from tests.topologies.replication import Replication
from tests.topologies.topology import OneServer, Topology
from tests.waiting import until
from voting_site.configuration import service_urls
from voting_site.embedded import StorePaths, Supervisor

EMBEDDED, REDIS, VALKEY, SENTINEL, CLUSTER = "embedded", "redis", "valkey", "sentinel", "cluster"
ONE_SHARD = "one-shard"  # one embedded server, for the tests that otherwise run on several shards only
POSTGRES = "postgres"  # one embedded server, with the accounts on PostgreSQL
NAMES = (EMBEDDED, ONE_SHARD, REDIS, VALKEY, SENTINEL, CLUSTER, POSTGRES)

NAME = os.environ.get("TOPOLOGY", EMBEDDED)
assert NAME in NAMES, f"TOPOLOGY is none of {', '.join(NAMES)}"

FEWEST_SHARDS = 16 if NAME == CLUSTER else 1

SHARDS = {CLUSTER: (16,), ONE_SHARD: (1,)}.get(NAME, (1, 4))
"""Numbers of shards with which the tests of the repository run. Of two, the first is for marked tests only."""

CACHE_DATABASE = 1

OTHER_DATABASE = 3  # for tests that need a second store: beside a cluster it is a single server's
NEEDS = {
    "one server": ("it breaks, watches or configures the only server", {CLUSTER}),
    "one transaction": ("it expects a change of all shards to be seen at once", {CLUSTER}),
    "few shards": ("it counts on articles that share a shard", {CLUSTER}),
    "databases": ("it uses a database by its number", {CLUSTER}),
    "files": ("it reads the files of the embedded server", {REDIS, VALKEY, SENTINEL, CLUSTER}),
}
"""What a test may need, by the word after `@pytest.mark.needs`: the reason for which it is skipped, and where."""

_SETTINGS = {"appendonly": "yes", "set-max-intset-entries": "16384", "hash-max-listpack-value": "2048"}
"""What the tests expect of a server that they measure."""


def repository_id(shards: int) -> str:
    """Return the parameter of the fixture `repository` for so many shards, which is part of a test's name."""
    return "server" if shards == 1 else f"server, {shards} shards"


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what does not touch this topology, and what is tried on one shard elsewhere."""
    others = [item for item in items if _touches_something_else(item) or _is_for_one_shard(item)]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in set(others)]
    for item in items:
        if NAME == CLUSTER and _parameters(item).get("shards") == 1:
            item.add_marker(pytest.mark.skip("a cluster has several shards"))
        for mark in item.iter_markers("needs"):
            reason, places = NEEDS[mark.args[0]]
            if NAME in places:
                item.add_marker(pytest.mark.skip(reason))


_TOUCHED = {POSTGRES: {"db", "transactional_db", "site_store"}, ONE_SHARD: {"repository"}}


def _touches_something_else(item: pytest.Item) -> bool:
    touched = _TOUCHED.get(NAME, {"store_paths"})
    return NAME != EMBEDDED and touched.isdisjoint(getattr(item, "fixturenames", ()))


def _is_for_one_shard(item: pytest.Item) -> bool:
    """Return whether a topology of its own runs this test: with several shards, it runs here anyway."""
    is_marked = item.get_closest_marker("one_shard") is not None
    return len(SHARDS) > 1 and not is_marked and _parameters(item).get("repository") == 1


def _parameters(item: pytest.Item) -> Mapping[str, object]:
    callspec = getattr(item, "callspec", None)
    return callspec.params if callspec else {}


class Databases(Protocol):
    """Where the databases of the tests are, as `StorePaths` says it of the embedded server."""

    def url(self, db: int) -> str: ...


class _Databases:
    def __init__(self, store: Topology, cache: Topology) -> None:
        self._store, self._cache = store, cache

    def url(self, db: int) -> str:
        return (self._cache if db in {CACHE_DATABASE, OTHER_DATABASE} else self._store).database(db)


@contextmanager
def accounts_database() -> Iterator[None]:
    """Start PostgreSQL for the accounts if this run has them there; only before the first connection."""
    if NAME != POSTGRES:
        yield
        return
    if reason := postgres_server.missing():
        pytest.skip(reason)
    server = PostgresServer()
    try:
        until(server.answers)
        settings.DATABASES["default"].clear()
        settings.DATABASES["default"].update(service_urls.database(server.url))
        del connections["default"]
        connections.settings = connections.configure_settings(settings.DATABASES)
        yield
    finally:
        connections.close_all()
        server.stop()


@contextmanager
def started(folder: Path) -> Iterator[Databases]:
    """Start the servers of this run, in a new folder, and let the settings name them."""
    if NAME in {EMBEDDED, ONE_SHARD, POSTGRES}:
        yield from _embedded()
    else:
        with ExitStack() as running:
            store = running.enter_context(_topology(folder / "store"))
            # A cluster has no databases, and keeps neither cache nor sessions.
            cache = running.enter_context(OneServer(folder / "cache")) if NAME == CLUSTER else store
            databases = _Databases(store, cache)
            running.enter_context(override_settings(**_settings(databases)))
            yield databases


def _embedded() -> Iterator[Databases]:
    paths = StorePaths(Path(settings.DATA_DIR))
    supervisor = Supervisor(paths, config={"appendfsync": "no"})
    supervisor.start(60)
    yield paths
    supervisor.stop()


def _topology(folder: Path) -> Topology:
    if NAME == CLUSTER:
        return Cluster(folder, has_password=True, settings=_SETTINGS, node_timeout_ms=10_000)
    if NAME == SENTINEL:
        return Replication(folder, has_password=True, settings=_SETTINGS, down_after_ms=10_000)
    return OneServer(folder, _binary(), has_password=True, settings=_SETTINGS)


def _binary() -> Path:
    binary = binaries.valkey() if NAME == VALKEY else binaries.redis()
    if binary is None:
        pytest.skip(binaries.REDIS_MISSING)
    return binary


def _settings(databases: Databases) -> dict[str, Any]:
    """Return the site's settings as an operator gets them who names these servers."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("REDIS_URL", databases.url(0))
        environment.setenv("STORE_SHARDS", str(SHARDS[-1] if NAME == CLUSTER else 1))
        if NAME == CLUSTER:
            environment.setenv("CACHE_URL", databases.url(CACHE_DATABASE))
        values = runpy.run_path(str(settings.BASE_DIR / "voting_site" / "settings.py"))
    return {name: value for name, value in values.items() if name.startswith("STORE_") or name == "CACHES"}
