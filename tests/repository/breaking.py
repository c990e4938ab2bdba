"""A server whose answers get lost."""

from typing import Any

import redis

from articles.repository.store.clients.cluster import ClusterClient


class _Pool:
    """The connections of a client that breaks: it takes one for each round trip."""

    def __init__(self, client: "Breaking", pool: Any) -> None:
        self._client, self._pool = client, pool

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    def get_connection(self, *args: Any, **options: Any) -> Any:
        self._client.begin()
        connection = self._pool.get_connection(*args, **options)
        self._client.taken.add(connection)
        return connection

    def release(self, connection: Any) -> None:
        if connection in self._client.taken:  # a pipeline releases it again after an error
            self._client.taken.remove(connection)
            self._pool.release(connection)
            self._client.end()


class Breaking:
    """Mixed into a client: loses the store for good after a number of round trips, until it is mended."""

    left: int | None = None

    @property
    def taken(self) -> set[Any]:
        found: set[Any] = vars(self).setdefault("_taken", set())
        return found

    def begin(self) -> None:
        if self.left == 0:
            raise redis.ConnectionError("broken off")

    def end(self) -> None:
        if self.left:
            self.left -= 1
            self.begin()

    @property
    def connection_pool(self) -> Any:
        return _Pool(self, self._pool) if self._pool else None

    @property
    def _pool(self) -> Any:
        """That of one server; None for a cluster."""
        return None if isinstance(self, ClusterClient) else vars(self).get("connection_pool")

    @connection_pool.setter
    def connection_pool(self, pool: Any) -> None:
        vars(self)["connection_pool"] = pool

    def execute_command(self, *args: Any, **options: Any) -> Any:
        if self._pool:
            return super().execute_command(*args, **options)  # type: ignore[misc]
        self.begin()
        reply = super().execute_command(*args, **options)  # type: ignore[misc]
        self.end()
        return reply

    def pipeline(self, *args: Any, **options: Any) -> Any:
        pipe = super().pipeline(*args, **options)  # type: ignore[misc]
        if not self._pool:
            self.begin()
            send = pipe.execute

            def execute(*args: Any, **options: Any) -> Any:
                replies = send(*args, **options)
                self.end()
                return replies

            pipe.execute = execute
        return pipe


class BreakingServer(Breaking, redis.Redis):
    pass
