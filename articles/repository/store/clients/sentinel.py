"""Connections to the primary that sentinels name, or to its replicas, guarded like all others."""

from collections.abc import Sequence
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.connection import Connection, SSLConnection
from redis.retry import Retry
from redis.sentinel import (
    Sentinel,
    SentinelConnectionPool,
    SentinelManagedConnection,
    SentinelManagedSSLConnection,
)

from articles.repository.store.clients.guarded_connection import GuardedPool, guarded


def sentinels_at(places: Sequence[tuple[str, int]], options: dict[str, Any]) -> Sentinel:
    """Return redis-py's client of sentinels. One that hangs is not asked again for a while, like any server."""
    kind = SSLConnection if options.pop("ssl", False) else Connection
    sentinels = Sentinel([])  # type: ignore[no-untyped-call]
    sentinels.sentinels = [
        redis.Redis.from_pool(
            GuardedPool(kind, host=host, port=port, retry=Retry(NoBackoff(), 0), **options),
        )
        for host, port in places
    ]
    return sentinels


class GuardedSentinelPool(SentinelConnectionPool):
    """A pool of guarded connections to a primary, or to its replicas if `is_master` is False."""

    def __init__(self, service_name: str, sentinel_manager: Any, *, ssl: bool = False, **options: Any) -> None:
        kind = SentinelManagedSSLConnection if ssl else SentinelManagedConnection
        super().__init__(service_name, sentinel_manager, connection_class=guarded(kind), **options)  # type: ignore[no-untyped-call]
