"""The operator's view of a store: whether it can serve, the server, its keys, its housekeeping. Read-only.

If the server does not permit a command (its ACL may forbid INFO, SLOWLOG or CONFIG), the result is None
instead of an error. Each call costs the server some milliseconds, whatever the size of the store.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

import redis

from articles.domain.errors import StoreUnfit
from articles.domain.lists import Order
from articles.repository.inspection.server import (
    NodeFacts,
    Overview,
    SlowCommand,
    list_nodes,
    overview_of,
    slow_command,
)
from articles.repository.store import keys as names, permissions, schema
from articles.repository.store.connection import OfStore
from articles.repository.store.values import moment_from, naming
from articles.repository.upkeep import upgrades

_PINGS = 7
_SLOW_COMMANDS = 20
_SYNCED_LEAST = ("no", "everysec", "always")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a store says about itself. `pending`: the upgrades that the next start makes."""

    layout: str
    shards: str
    pending: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Latency:
    """Times of round trips from this process to the store, in seconds."""

    median: float
    worst: float
    pings: int


@dataclass(frozen=True, slots=True)
class ShardFacts:
    """One shard. `refreshed_at`: when its hot list was last rescored, in Unix seconds; None if never."""

    name: str
    articles: int
    removed: int
    hot: int
    refreshed_at: float | None


@dataclass(frozen=True, slots=True)
class Step:
    """The last run of one step of housekeeping. `at` in Unix seconds."""

    name: str
    at: float
    seconds: float
    result: str
    error: str


def _if_permitted(read: Callable[[], T]) -> T | None:
    try:
        return read()
    except (redis.ResponseError, StoreUnfit):
        return None


class Inspection(OfStore):
    """The operator's view of a store."""

    def get_overview(self) -> Overview | None:
        """Return the servers' figures together; None without INFO. One round trip; on a cluster one each."""
        return _if_permitted(lambda: overview_of(*self._of_servers("INFO", "everything")))

    def _of_servers(self, *command: str) -> list[Any]:
        """Return each server's reply. Raises redis.ResponseError if one does not permit the command."""
        servers, _ = self._store.inspect(command)
        for (reply,) in servers:
            if isinstance(reply, Exception):
                raise reply
        return [reply for (reply,) in servers]

    def get_sync_policy(self) -> str | None:
        """Return how the append-only file is synced: always, everysec or no; None if unknown.

        Of several servers' policies, the one that syncs least often. One round trip, as `get_overview`.
        """

        policies = _if_permitted(lambda: self._configured("appendfsync"))
        return min(policies or (), key=_SYNCED_LEAST.index, default=None)

    def has_snapshots(self) -> bool | None:
        """Return whether every server saves its data now and then; None if unknown. As `get_sync_policy`."""
        points = _if_permitted(lambda: self._configured("save"))
        return all(points) if points else None

    def _configured(self, setting: str) -> list[str]:
        """Return a setting's value on each server that names it. Raises redis.ResponseError."""
        return [reply[setting] for reply in self._of_servers("CONFIG GET", setting) if setting in reply]

    def list_denied(self) -> list[str]:
        """Return the commands for operators that a server does not permit. Two round trips, as `get_overview`."""
        return permissions.list_denied(self._store)

    def list_nodes(self) -> tuple[NodeFacts, ...] | None:
        """Return the facts of each primary; None if INFO is not permitted. One round trip, as `get_overview`."""
        return _if_permitted(lambda: list_nodes(self._store))

    def list_obstacles(self) -> list[str]:
        """Return why the store cannot serve, one phrase each; none if it can. One round trip.

        Where INFO is not permitted, only what can be seen without it. Raises StoreUnavailable.
        """

        def queue_keys(pipe: Any) -> None:
            pipe.exists(names.SCHEMA)
            pipe.exists(self._store.shards.directory.ranking)

        servers, existing = self._store.inspect(("INFO",), queue_more=queue_keys)
        for reply in (*existing, *(info for (info,) in servers)):
            is_denied = isinstance(reply, redis.exceptions.NoPermissionError)
            if isinstance(reply, redis.ResponseError) and not is_denied:
                raise reply
        obstacles = [] if all(existing) else ["it was emptied"]
        for (info,) in servers:
            obstacles += _obstacles(info if isinstance(info, dict) else {})
        return list(dict.fromkeys(obstacles))

    def get_stamp(self) -> Stamp | None:
        """Return what the store says of itself; None if it is not stamped, or tuned. One round trip."""
        with self._store.pipeline() as pipe:
            pipe.hgetall(names.SCHEMA)
            pipe.exists(self._store.shards.directory.ranking)
            stamp, has_parameters = pipe.execute()
        if not stamp or not has_parameters:
            return None
        pending = tuple(upgrade.summary for upgrade in upgrades.UPGRADES if upgrade.is_pending(stamp))
        return Stamp(stamp.get("version", ""), stamp.get("shards", ""), pending)

    def find_misfit(self, known_site: str | None) -> str:
        """Return why a start would refuse the store, in one sentence; "" if it would not. Five round trips."""
        try:
            schema.check(self._store, known_site)
        except StoreUnfit as error:
            return str(error)
        return ""

    def measure_latency(self) -> Latency:
        """Measure round trips with PING, one after the other, to the servers in turn. Seven round trips."""
        took, servers = [], self._store.servers()
        with self._store.commands():
            for n in range(_PINGS):
                began = time.perf_counter()
                servers[n % len(servers)].ping()
                took.append(time.perf_counter() - began)
        return Latency(median(took), max(took), _PINGS)

    def list_slow_commands(self) -> tuple[SlowCommand, ...] | None:
        """Return the latest slow commands, newest first; None if SLOWLOG is not permitted. One round trip."""

        def read() -> tuple[SlowCommand, ...]:
            commands = []
            for server in self._store.servers():
                with self._store.commands():  # as two words: redis-py would parse the reply to "SLOWLOG GET"
                    entries = server.execute_command("SLOWLOG", "GET", _SLOW_COMMANDS, NEVER_DECODE=[])
                commands += [slow_command(entry) for entry in entries]
            return tuple(sorted(commands, key=lambda one: -one.at)[:_SLOW_COMMANDS])

        return _if_permitted(read)

    def list_shards(self) -> tuple[ShardFacts, ...]:
        """Return the facts of every shard. One round trip."""
        shards = self._store.shards
        with self._store.pipeline() as pipe:
            for keys in shards.all:
                pipe.zcard(keys.order(Order.TIME))
                pipe.zcard(keys.removed)
                pipe.zcard(keys.order(Order.HOT))
                pipe.hget(keys.ranking, "refreshed_at")
            replies = pipe.execute()
        rows = zip(shards.all, *(replies[part::4] for part in range(4)), strict=True)
        return tuple(ShardFacts(k.prefix, n, removed, hot, moment_from(at)) for k, n, removed, hot, at in rows)

    def list_steps(self) -> tuple[Step, ...]:
        """Return the last run of every step of housekeeping, newest first. One round trip."""
        with self._store.commands() as client:
            records = client.hgetall(names.TICK)
        return _steps(records)

    def get_figures(self) -> dict[str, float]:
        """Return the figures for monitoring that are known.

        They are articles, keys, memory_bytes, memory_limit_bytes, hot_age_seconds and housekeeping_age_seconds.
        Two round trips.
        """
        shards = self.list_shards()
        servers, (records,) = self._store.inspect(
            ("DBSIZE",), ("INFO", "memory"), queue_more=lambda pipe: pipe.hgetall(names.TICK)
        )
        figures = {"articles": float(sum(shard.articles for shard in shards))}
        refreshed = [shard.refreshed_at for shard in shards]
        if all(refreshed):
            oldest = min(at for at in refreshed if at)
            figures["hot_age_seconds"] = max(0.0, self._store.now() - oldest)
        counts, memories = zip(*servers, strict=True)
        if not any(isinstance(count, Exception) for count in counts):
            figures["keys"] = float(sum(counts))
        if not any(isinstance(memory, Exception) for memory in memories):
            figures["memory_bytes"] = float(sum(memory["used_memory"] for memory in memories))
            if all(memory.get("maxmemory") for memory in memories):
                figures["memory_limit_bytes"] = float(sum(memory["maxmemory"] for memory in memories))
        if not isinstance(records, Exception) and (steps := _steps(records)):
            figures["housekeeping_age_seconds"] = max(0.0, self._store.now() - steps[0].at)
        return figures


def _obstacles(info: Mapping[str, Any]) -> Iterator[str]:
    if info.get("role") == "slave":
        yield "it is a read-only replica"
    if info.get("maxmemory") and info.get("used_memory", 0) >= info["maxmemory"]:
        yield "its memory is full"
    if info.get("aof_last_write_status", "ok") != "ok":
        yield "its append-only file cannot be written"


def _steps(records: Mapping[str, str]) -> tuple[Step, ...]:
    """Return the runs from their records, newest first. Raises StoreDamaged."""
    with naming("the record of a housekeeping step"):
        steps = [Step(name, **json.loads(text)) for name, text in records.items()]
    return tuple(sorted(steps, key=lambda step: (-step.at, step.name)))
