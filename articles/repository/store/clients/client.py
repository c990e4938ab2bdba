"""Builds the clients of stores and of the cache. No other module does.

Servers are reached directly, at the primary that sentinels name, or as a cluster.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import redis
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode, LoadBalancingStrategy
from redis.connection import Connection, SSLConnection
from redis.retry import Retry
from redis.sentinel import (
    Sentinel,
    SentinelConnectionPool,
    SentinelManagedConnection,
    SentinelManagedSSLConnection,
)

from articles.domain.store_address import StoreAddress, Topology, parse
from articles.repository.store.clients.cluster import ClusterClient
from articles.repository.store.clients.cluster_nodes import Discovery, Nodes
from articles.repository.store.clients.guarded_connection import (
    GuardedClient,
    GuardedNodePool,
    GuardedPool,
    ReadersRetry,
    guarded,
)


def sentinels_at(places: Sequence[tuple[str, int]], options: dict[str, Any]) -> Sentinel:
    """Return redis-py's client of sentinels. One that hangs is not asked again for a while, like any server."""
    kind = SSLConnection if options.pop("ssl", False) else Connection
    sentinels = Sentinel([])  # type: ignore[no-untyped-call]
    sentinels.sentinels = [
        redis.Redis.from_pool(GuardedPool(kind, host=host, port=port, retry=Retry(NoBackoff(), 0), **options))
        for host, port in places
    ]
    return sentinels


class GuardedSentinelPool(SentinelConnectionPool):
    """A pool of guarded connections to a primary, or to its replicas if `is_master` is False."""

    def __init__(self, service_name: str, sentinel_manager: Any, *, ssl: bool = False, **options: Any) -> None:
        kind = SentinelManagedSSLConnection if ssl else SentinelManagedConnection
        super().__init__(service_name, sentinel_manager, connection_class=guarded(kind), **options)  # type: ignore[no-untyped-call]


CONNECT_TIMEOUT = 0.2  # seconds for a new connection

SENTINEL_TIMEOUT = 0.5  # seconds for a sentinel's reply; another one is asked after that
PATIENT_TIMEOUT_SECONDS = 60.0
"""Limit for one reply to an operator's command, whose batches are long. Pages wait STORE_TIMEOUT_MS."""


_FLAGS = ("ssl_check_hostname", "socket_keepalive")  # options of redis-py that are yes or no


class Clients(NamedTuple):
    """The clients of a store. `stale` may read replicas, which lag; it is `main` unless requested."""

    main: GuardedClient
    stale: GuardedClient


def make_clients(
    url: str, *, timeout_seconds: float = PATIENT_TIMEOUT_SECONDS, reads_replicas: bool = False
) -> Clients:
    """Return clients that never send a change twice without the caller's knowledge. No round trip.

    Bytes that are no text, as in a damaged store, are read as escapes such as \\xff, which every page can show.
    `timeout_seconds`: limit for one reply, or for all replies of a pipeline. Raises ValueError for an invalid URL.
    """
    decoding = {"decode_responses": True, "encoding_errors": "backslashreplace"}
    return connect(parse(url), decoding | _limits(timeout_seconds), reads_replicas=reads_replicas)


def make_cache_client(url: str, *, timeout_seconds: float) -> GuardedClient:
    """Return a client whose replies are bytes. Raises ValueError for an invalid URL. No round trip."""
    return connect(parse(url), _limits(timeout_seconds), reads_replicas=False).main


def _limits(timeout_seconds: float) -> dict[str, Any]:
    return {"protocol": 2, "socket_connect_timeout": CONNECT_TIMEOUT, "socket_timeout": timeout_seconds}


def connect(address: StoreAddress, options: dict[str, Any], *, reads_replicas: bool) -> Clients:
    """Return clients of a store at an address, with these options of redis-py's connections."""
    if address.topology is Topology.SERVER:
        only: Any = GuardedClient.from_pool(GuardedPool.from_url(address.url, retry=ReadersRetry(), **options))
        return Clients(only, only)
    options |= _options_of(address)
    if address.topology is Topology.CLUSTER:
        return _cluster(address, options, reads_replicas=reads_replicas)
    return _sentinel(address, options, reads_replicas=reads_replicas)


def _options_of(address: StoreAddress) -> dict[str, Any]:
    """Return redis-py's options that an address names."""
    named = {name: value for name, value in address.options.items() if not name.startswith("sentinel_")}
    flags = {name: named[name].lower() in ("1", "true", "yes") for name in _FLAGS if name in named}
    login = {"username": address.username or None, "password": address.password or None}
    return {"db": address.database, "ssl": address.has_tls, **login, **named, **flags}


def _cluster(address: StoreAddress, options: dict[str, Any], *, reads_replicas: bool) -> Clients:
    tls = options.pop("ssl")
    options.pop("db")
    (host, port), *others = address.servers

    def discover(strategy: LoadBalancingStrategy | None = None) -> Discovery:
        return Discovery(
            url=f"{'rediss' if tls else 'redis'}://{f'[{host}]' if ':' in host else host}:{port}",
            startup_nodes=[ClusterNode(*place) for place in others],  # type: ignore[no-untyped-call]
            retry=Retry(NoBackoff(), 0),
            connection_pool_class=GuardedNodePool,
            require_full_coverage=False,
            load_balancing_strategy=strategy,  # with one, redis-py says READONLY on each connection
            **options,
        )

    decoding, limit = GuardedPool(host=host, port=port, **options), options["socket_timeout"]
    main = ClusterClient(Nodes(discover, timeout_seconds=limit), decoding)
    if not reads_replicas:
        return Clients(main, main)
    of_replicas = Nodes(lambda: discover(LoadBalancingStrategy.ROUND_ROBIN), timeout_seconds=limit)
    return Clients(main, ClusterClient(of_replicas, decoding, of_replicas=True))


def _sentinel(address: StoreAddress, options: dict[str, Any], *, reads_replicas: bool) -> Clients:
    names = ("username", "password")
    logins = {name: address.options.get(f"sentinel_{name}") for name in names}
    limits = {name: options[name] for name in ("protocol", "socket_connect_timeout")}
    tls = {name: value for name, value in options.items() if name.startswith("ssl")}
    limits["socket_timeout"] = min(options["socket_timeout"], SENTINEL_TIMEOUT)
    sentinels = sentinels_at(address.servers, logins | limits | tls)

    def client(*, is_master: bool) -> Any:
        pool = GuardedSentinelPool(
            address.service, sentinels, retry=ReadersRetry(), is_master=is_master, **options
        )
        return GuardedClient.from_pool(pool)

    main = client(is_master=True)
    return Clients(main, client(is_master=False) if reads_replicas else main)
