"""The connections of Django's cache: built like the store's, since the cache is on the same kinds of servers."""

from typing import Any

import redis
from django_redis.pool import ConnectionFactory

from articles.repository.store.clients.client import make_cache_client


class CacheConnections(ConnectionFactory):  # type: ignore[misc]
    """Builds the clients of django-redis. They are kept for each URL, as Django makes a cache for each thread."""

    _clients: dict[str, redis.Redis] = {}

    def connect(self, url: str) -> redis.Redis:
        """Return the client of a URL. No round trip."""
        if url not in self._clients:
            self._clients[url] = make_cache_client(url, timeout_seconds=self.options["SOCKET_TIMEOUT"])
        return self._clients[url]

    def disconnect(self, connection: Any) -> None:
        """Close the idle connections of a client."""
        connection.connection_pool.disconnect()
