"""Whether a store can serve the site: it answers, takes writes, and is still the site's. Read-only."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import redis

from articles.domain.errors import StoreUnfit
from articles.repository.store import keys as names
from articles.repository.store import schema
from articles.repository.store.connection import Store
from articles.repository.upkeep.upgrades import UPGRADES


def list_obstacles(store: Store) -> list[str]:
    """Return why the store cannot serve, one phrase each; none if it can. One round trip. Raises StoreUnavailable.

    Where INFO is not permitted, only what can be seen without it.
    """

    def queue_keys(pipe: Any) -> None:
        pipe.exists(names.SCHEMA)
        pipe.exists(store.shards.directory.ranking)

    servers, existing = store.inspect(("INFO",), queue_more=queue_keys)
    for reply in (*existing, *(info for (info,) in servers)):
        if isinstance(reply, redis.ResponseError) and not isinstance(reply, redis.exceptions.NoPermissionError):
            raise reply
    obstacles = [] if all(existing) else ["it was emptied"]
    for (info,) in servers:
        obstacles += _obstacles(info if isinstance(info, dict) else {})
    return list(dict.fromkeys(obstacles))


def _obstacles(info: Mapping[str, Any]) -> Iterator[str]:
    if info.get("role") == "slave":
        yield "it is a read-only replica"
    if info.get("maxmemory") and info.get("used_memory", 0) >= info["maxmemory"]:
        yield "its memory is full"
    if info.get("aof_last_write_status", "ok") != "ok":
        yield "its append-only file cannot be written"


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a store says about itself. `pending`: the upgrades that the next start makes."""

    layout: str
    shards: str
    pending: tuple[str, ...]


def read_stamp(store: Store) -> Stamp | None:
    """Return the stamp; None for a store without one, or without the parameters of the ranking. One round trip."""
    with store.pipeline() as pipe:
        pipe.hgetall(names.SCHEMA)
        pipe.exists(store.shards.directory.ranking)
        stamp, has_parameters = pipe.execute()
    if not stamp or not has_parameters:
        return None
    return Stamp(
        layout=stamp.get("version", ""),
        shards=stamp.get("shards", ""),
        pending=tuple(upgrade.summary for upgrade in UPGRADES if upgrade.is_pending(stamp)),
    )


def find_misfit(store: Store, known_site: str | None) -> str:
    """Return why a start would refuse the store, in one sentence; "" if it would not. Five round trips."""
    try:
        schema.check(store, known_site)
    except StoreUnfit as error:
        return str(error)
    return ""
