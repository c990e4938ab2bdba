"""What the operator sees of a store: the server, its keys, its housekeeping. Reads only.

A server that does not let us look at something (its ACL may forbid INFO, SLOWLOG, CONFIG or MEMORY) is not an
error: the answer is None. What is asked costs the server some milliseconds, whatever the size of the store.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any, TypeVar

import redis

from articles.domain.articles import ArticleId
from articles.domain.lists import Order
from articles.repository.inspection.census import Census, count_keys
from articles.repository.inspection.footprint import Footprint, KeyMemory, article_keys, mean_footprint
from articles.repository.inspection.server import Overview, overview_of
from articles.repository.inspection.slow_log import SlowCommand, slow_command
from articles.repository.store import keys as names
from articles.repository.store.connection import Store

_PINGS = 7
_SLOW_COMMANDS = 20

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Latency:
    """Round trips from here to the store and back, in seconds."""

    median: float
    worst: float
    pings: int


@dataclass(frozen=True, slots=True)
class ShardFacts:
    """One shard. `refreshed_at`: when its hot list was scored, in Unix seconds; None if it never was."""

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


def _if_permitted(ask: Callable[[], T]) -> T | None:
    try:
        return ask()
    except redis.ResponseError:
        return None


class Inspection:
    """The operator's view of a store."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get_overview(self) -> Overview | None:
        """What the server says of itself."""

        def ask() -> Overview:
            with self._store.commands() as client:
                return overview_of(client.info("everything"))

        return _if_permitted(ask)

    def get_sync_policy(self) -> str | None:
        """When the append-only file reaches the disk: always, everysec or no."""

        def ask() -> str | None:
            with self._store.commands() as client:
                policy: str | None = client.config_get("appendfsync").get("appendfsync")
            return policy

        return _if_permitted(ask)

    def measure_latency(self) -> Latency:
        """How long the store takes to answer when it is asked for nothing."""
        took = []
        with self._store.commands() as client:
            for _ in range(_PINGS):
                began = time.perf_counter()
                client.ping()
                took.append(time.perf_counter() - began)
        return Latency(median(took), max(took), _PINGS)

    def list_slow_commands(self) -> tuple[SlowCommand, ...] | None:
        """The commands that held up the server longest, newest first."""

        def ask() -> tuple[SlowCommand, ...]:
            with self._store.commands() as client:  # asked for in two words, redis-py leaves the bytes as they are
                entries = client.execute_command("SLOWLOG", "GET", _SLOW_COMMANDS, NEVER_DECODE=[])
            return tuple(slow_command(entry) for entry in entries)

        return _if_permitted(ask)

    def list_shards(self) -> tuple[ShardFacts, ...]:
        """Every shard. One round trip."""
        shards = self._store.shards
        with self._store.pipeline() as pipe:
            for keys in shards.all:
                pipe.zcard(keys.order(Order.TIME))
                pipe.zcard(keys.removed)
                pipe.zcard(keys.order(Order.HOT))
                pipe.hget(keys.ranking, "refreshed_at")
            replies = pipe.execute()
        rows = zip(shards.all, *(replies[part::4] for part in range(4)), strict=True)
        return tuple(
            ShardFacts(k.prefix, n, removed, hot, float(at or 0) or None) for k, n, removed, hot, at in rows
        )

    def list_steps(self) -> tuple[Step, ...]:
        """The last run of every step, newest first."""
        with self._store.commands() as client:
            told = client.hgetall(names.TICK)
        steps = (_step(name, text) for name, text in told.items())
        return tuple(sorted((step for step in steps if step), key=lambda step: (-step.at, step.name)))

    def count_keys(self) -> Census:
        """Keys by kind."""
        return count_keys(self._store)

    def measure_footprint(self) -> Footprint | None:
        """What an article takes; None also where there are no articles."""
        return _if_permitted(lambda: mean_footprint(self._store))

    def list_article_keys(self, article_id: ArticleId) -> tuple[KeyMemory, ...] | None:
        """One article's keys. Raises ArticleNotFound."""
        return _if_permitted(lambda: article_keys(self._store, article_id))

    def get_figures(self) -> dict[str, float]:
        """What a monitor follows: articles, keys, memory_bytes, hot_age_seconds; those that are known.

        Two round trips.
        """
        shards = self.list_shards()
        with self._store.pipeline() as pipe:
            pipe.dbsize()
            pipe.info("memory")
            keys, memory = pipe.execute(raise_on_error=False)
        found = {"articles": float(sum(shard.articles for shard in shards))}
        refreshed = [shard.refreshed_at for shard in shards]
        if all(refreshed):
            oldest = min(at for at in refreshed if at)
            found["hot_age_seconds"] = max(0.0, self._store.now() - oldest)
        if not isinstance(keys, Exception):
            found["keys"] = float(keys)
        if not isinstance(memory, Exception):
            found["memory_bytes"] = float(memory["used_memory"])
        return found


def _step(name: str, text: str) -> Step | None:
    """None for what is not the record of a run."""
    try:
        told: dict[str, Any] = json.loads(text)
        at, seconds = float(told["at"]), float(told["seconds"])
    except (ValueError, KeyError, TypeError):
        return None
    return Step(name, at, seconds, _words(told.get("result")), _words(told.get("error")))


def _words(result: object) -> str:
    """A result as text: `moved 3, left 0` of {"moved": 3, "left": 0}."""
    if isinstance(result, dict):
        return ", ".join(f"{name} {value}" for name, value in result.items())
    return "" if result is None else str(result)
