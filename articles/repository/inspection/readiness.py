"""Whether a store can serve the site: it answers, takes writes, and is still the site's."""

from collections.abc import Iterator, Mapping
from typing import Any

import redis

from articles.repository.store import keys as names
from articles.repository.store.connection import Store


def list_obstacles(store: Store) -> list[str]:
    """Return why the store cannot serve, one phrase each; none if it can. One round trip. Raises StoreUnavailable.

    Where INFO is not permitted, only what can be seen without it.
    """
    with store.pipeline() as pipe:
        pipe.exists(names.SCHEMA, store.shards.directory.ranking)
        pipe.info()
        existing, info = pipe.execute(raise_on_error=False)
    for reply in (existing, info):
        if isinstance(reply, redis.ResponseError) and not isinstance(reply, redis.exceptions.NoPermissionError):
            raise reply
    known = info if isinstance(info, dict) else {}
    return list(_obstacles(existing, known))


def _obstacles(existing: int, info: Mapping[str, Any]) -> Iterator[str]:
    if existing != 2:
        yield "it was emptied"
    if info.get("role") == "slave":
        yield "it is a read-only replica"
    if info.get("maxmemory") and info.get("used_memory", 0) >= info["maxmemory"]:
        yield "its memory is full"
    if info.get("aof_last_write_status", "ok") != "ok":
        yield "its append-only file cannot be written"
