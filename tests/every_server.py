"""What tests do on every server of a store: on the only one, or on the primaries of a cluster."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from functools import cache
from typing import Any, TypeVar

import redis
from redis.sentinel import SentinelConnectionPool

from articles.repository.store.clients.cluster import ClusterClient

R = TypeVar("R", bound=redis.Redis)


def servers_of(client: redis.Redis) -> list[redis.Redis]:
    """Return a client of each server that takes changes."""
    return list(client.nodes.primaries()) if isinstance(client, ClusterClient) else [client]


def with_methods_of(kind: type[R], client: redis.Redis) -> R:
    """Return a client of the same store that has the methods of this subclass of `redis.Redis` besides its own."""
    twin: Any = copy(client)
    twin.__class__ = type(kind.__name__, (kind, type(client)), {})
    twin.auto_close_connection_pool = False  # the connections are the client's
    return twin


def bytes_clients_of(client: redis.Redis) -> list[redis.Redis]:
    """Return a client of each server, in the same order, that decodes nothing."""
    return [_bytes_client(server.connection_pool) for server in servers_of(client)]


def _bytes_client(pool: redis.ConnectionPool) -> redis.Redis:
    facts = pool.connection_kwargs
    place = {name: facts[name] for name in ("host", "port", "db", "username", "password") if name in facts}
    if isinstance(pool, SentinelConnectionPool):
        place["host"], place["port"] = pool.get_master_address()
    return _bytes_client_at(unix_socket_path=facts.get("path"), **place)


@cache
def _bytes_client_at(**place: Any) -> redis.Redis:
    return redis.Redis(**place)


def names_in(client: redis.Redis, match: str = "*") -> list[str]:
    return [name for server in servers_of(client) for name in server.scan_iter(match=match, count=1000)]


def delete(client: redis.Redis, *names: str) -> int:
    """Delete keys that may be in several shards; return how many there were."""
    with client.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.delete(name)
        return sum(pipe.execute())


def count_of(client: redis.Redis, *names: str) -> int:
    """Return how many of these keys exist, which may be in several shards."""
    with client.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.exists(name)
        return sum(pipe.execute())


def configure(client: redis.Redis, name: str, value: str) -> None:
    for server in servers_of(client):
        server.config_set(name, value)


@contextmanager
def configured(client: redis.Redis, name: str, value: str) -> Iterator[None]:
    """Run the servers with another value of one of their settings."""
    before = servers_of(client)[0].config_get(name)[name]
    configure(client, name, value)
    try:
        yield
    finally:
        configure(client, name, before)


def reset_statistics(client: redis.Redis) -> None:
    for server in servers_of(client):
        server.config_resetstat()


def calls_in(client: redis.Redis) -> dict[str, int]:
    """Return how often each command has been called since then, also by scripts; by its name in lower case."""
    calls = Counter[str]()
    for server in servers_of(client):
        for name, facts in server.info("commandstats").items():
            calls[name.removeprefix("cmdstat_")] += facts["calls"]
    return dict(calls)
