"""The figures in a server's INFO, with units, its slow commands, and how its replicas follow. Read-only.

A figure that the server does not report is None. Slow commands are scripts by name, without secrets.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import redis
from redis.crc import key_slot

from articles.repository.store import scripts
from articles.repository.store.clients.cluster import ClusterClient
from articles.repository.store.connection import Store

_WORDS = 6
_LONGEST = 40
_CACHED = "cache:"


@dataclass(frozen=True, slots=True)
class SlowCommand:
    """A slow command: `at` in Unix seconds; the server ran it for `seconds`."""

    at: float
    seconds: float
    command: str


def slow_command(entry: Sequence[Any]) -> SlowCommand:
    """Parse an undecoded entry of SLOWLOG GET. Some servers put a number before the arguments."""
    words = next(part for part in entry[3:] if isinstance(part, list))
    return SlowCommand(at=float(entry[1]), seconds=entry[2] / 1e6, command=readable(words))


def readable(words: Sequence[bytes]) -> str:
    """Return a command in one line: its first words, each cut; a script by name instead of digest or text."""
    first, *rest = [_word(word) for word in words[:_WORDS]]
    if first.upper() in ("EVALSHA", "EVAL") and rest:
        rest[0] = _script_name(words[1])
    return " ".join([first, *rest, *(["…"] if len(words) > _WORDS else [])])


def _word(word: bytes) -> str:
    text = word.decode("utf-8", "backslashreplace")
    if _CACHED in text:  # the cache may share the server, and session keys are as secret as passwords
        return f"{_CACHED}…"
    text = "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[: _LONGEST + 1])
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _script_name(word: bytes) -> str:
    text = word.decode("utf-8", "replace")
    if text.startswith("-- "):  # sent as text; the log keeps its start
        name = text[3:].partition("\n")[0]
        return name if name in _scripts().values() else "(script)"
    return _scripts().get(text, "(script)")


@cache
def _scripts() -> dict[str, str]:
    """Return the names of all scripts by digest."""
    return {scripts.digest(name): name for name in scripts.names()}


_COMMANDS_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Server:
    """The server process. `uptime` in seconds."""

    name: str
    version: str
    uptime: int | None
    clients: int | None
    replicas: int | None
    commands_per_second: int | None
    commands: int | None
    refused_connections: int | None
    evicted: int | None
    """Evicted keys: always 0 in a store that the site accepts."""
    is_replica: bool


@dataclass(frozen=True, slots=True)
class Memory:
    """The server's memory, in bytes. `limit` is None if not set."""

    used: int | None
    peak: int | None
    resident: int | None
    limit: int | None
    policy: str | None
    """What the server does at the limit: `noeviction` in a store that the site accepts."""
    fragmentation: float | None
    """Resident memory as a multiple of used memory; meaningless below some ten megabytes."""


@dataclass(frozen=True, slots=True)
class AppendOnly:
    """The append-only file. Sizes in bytes."""

    enabled: bool
    last_write_ok: bool
    last_rewrite_ok: bool
    rewriting: bool
    size: int | None
    size_after_rewrite: int | None
    delayed_syncs: int | None


@dataclass(frozen=True, slots=True)
class CommandTimes:
    """One command since the server's start. Times in seconds; percentiles are None if the server keeps none."""

    name: str
    calls: int
    mean: float
    median: float | None
    p99: float | None
    failed: int


@dataclass(frozen=True, slots=True)
class Overview:
    """All figures. `commands` are those with the most total time, longest first."""

    server: Server
    memory: Memory
    append_only: AppendOnly
    commands: tuple[CommandTimes, ...]


def merged(overviews: Sequence[Overview]) -> Overview:
    """Return the figures of several servers together: sums, or the worst value of what cannot be added."""
    first, *others = overviews
    if not others:
        return first
    return Overview(
        Server(
            name=first.server.name,
            version=", ".join(sorted({one.server.version for one in overviews})),
            uptime=_least(one.server.uptime for one in overviews),
            is_replica=any(one.server.is_replica for one in overviews),
            **{name: _total(getattr(one.server, name) for one in overviews) for name in _SERVER_SUMS},
        ),
        Memory(
            policy=first.memory.policy,
            fragmentation=max((one.memory.fragmentation or 0 for one in overviews), default=None) or None,
            **{name: _total(getattr(one.memory, name) for one in overviews) for name in _MEMORY_SUMS},
        ),
        AppendOnly(
            enabled=all(one.append_only.enabled for one in overviews),
            last_write_ok=all(one.append_only.last_write_ok for one in overviews),
            last_rewrite_ok=all(one.append_only.last_rewrite_ok for one in overviews),
            rewriting=any(one.append_only.rewriting for one in overviews),
            **{name: _total(getattr(one.append_only, name) for one in overviews) for name in _FILE_SUMS},
        ),
        _merged_commands(overviews),
    )


_SERVER_SUMS = ("clients", "replicas", "commands_per_second", "commands", "refused_connections", "evicted")
_MEMORY_SUMS = ("used", "peak", "resident", "limit")
_FILE_SUMS = ("size", "size_after_rewrite", "delayed_syncs")


def _total(values: Iterable[int | None]) -> int | None:
    """Return the sum; None if a server leaves the figure out."""
    known = list(values)
    return None if None in known else sum(value or 0 for value in known)


def _least(values: Iterable[int | None]) -> int | None:
    return min((value for value in values if value is not None), default=None)


def _merged_commands(overviews: Sequence[Overview]) -> tuple[CommandTimes, ...]:
    by_name: dict[str, list[CommandTimes]] = {}
    for overview in overviews:
        for command in overview.commands:
            by_name.setdefault(command.name, []).append(command)
    commands = (_merged_command(parts) for parts in by_name.values())
    return tuple(sorted(commands, key=lambda one: -one.calls * one.mean)[:_COMMANDS_SHOWN])


def _merged_command(parts: Sequence[CommandTimes]) -> CommandTimes:
    calls = sum(part.calls for part in parts)
    return CommandTimes(
        name=parts[0].name,
        calls=calls,
        mean=sum(part.calls * part.mean for part in parts) / max(1, calls),
        median=max((part.median for part in parts if part.median is not None), default=None),
        p99=max((part.p99 for part in parts if part.p99 is not None), default=None),
        failed=sum(part.failed for part in parts),
    )


def overview_of(info: Mapping[str, Any]) -> Overview:
    """Return the figures of the reply to `INFO everything`."""
    return Overview(_server(info), _memory(info), _append_only(info), _commands(info))


def _server(info: Mapping[str, Any]) -> Server:
    valkey = info.get("valkey_version")
    return Server(
        name="Valkey" if valkey else "Redis",
        version=str(valkey or info.get("redis_version", "")),
        uptime=info.get("uptime_in_seconds"),
        clients=info.get("connected_clients"),
        replicas=info.get("connected_slaves"),
        commands_per_second=info.get("instantaneous_ops_per_sec"),
        commands=info.get("total_commands_processed"),
        refused_connections=info.get("rejected_connections"),
        evicted=info.get("evicted_keys"),
        is_replica=info.get("role") == "slave",
    )


def _memory(info: Mapping[str, Any]) -> Memory:
    return Memory(
        used=info.get("used_memory"),
        peak=info.get("used_memory_peak"),
        resident=info.get("used_memory_rss"),
        limit=info.get("maxmemory") or None,
        policy=info.get("maxmemory_policy"),
        fragmentation=info.get("mem_fragmentation_ratio"),
    )


def _append_only(info: Mapping[str, Any]) -> AppendOnly:
    return AppendOnly(
        enabled=bool(info.get("aof_enabled")),
        last_write_ok=info.get("aof_last_write_status", "ok") == "ok",
        last_rewrite_ok=info.get("aof_last_bgrewrite_status", "ok") == "ok",
        rewriting=bool(info.get("aof_rewrite_in_progress")),
        size=info.get("aof_current_size"),
        size_after_rewrite=info.get("aof_base_size"),
        delayed_syncs=info.get("aof_delayed_fsync"),
    )


def _commands(info: Mapping[str, Any]) -> tuple[CommandTimes, ...]:
    prefix = "cmdstat_"
    named = {key.removeprefix(prefix): value for key, value in info.items() if key.startswith(prefix)}
    longest = sorted(named.items(), key=lambda item: -item[1]["usec"])[:_COMMANDS_SHOWN]
    return tuple(_times(name, stats, info.get(f"latency_percentiles_usec_{name}", {})) for name, stats in longest)


def _times(name: str, stats: Mapping[str, Any], percentiles: Mapping[str, float]) -> CommandTimes:
    def seconds(key: str) -> float | None:
        return percentiles[key] / 1e6 if key in percentiles else None

    return CommandTimes(
        name=name.replace("|", " ").upper(),
        calls=stats["calls"],
        mean=stats["usec_per_call"] / 1e6,
        median=seconds("p50"),
        p99=seconds("p99"),
        failed=stats.get("failed_calls", 0) + stats.get("rejected_calls", 0),
    )


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """One primary. `slots`: of its shards, on a cluster; `lag`: seconds since its slowest replica reported."""

    name: str
    slots: tuple[int, ...]
    replicas: int
    lag: int


def list_nodes(store: Store) -> tuple[NodeFacts, ...]:
    """Return the facts of each primary. One round trip; on a cluster, one more to each primary.

    Raises redis.ResponseError if one does not permit INFO.
    """
    if not isinstance(store.client, ClusterClient):
        with store.commands() as client:
            return (_facts("", (), client.info("replication")),)
    slots: dict[str, list[int]] = {}
    for keys in store.shards.all:
        with store.commands() as client:
            place = _name(client.nodes.owner_of(keys.prefix))
        slots.setdefault(place, []).append(key_slot(keys.prefix.encode()))
    nodes = []
    for server in store.servers():
        with store.commands():
            nodes.append(_facts(_name(server), tuple(slots.get(_name(server), ())), server.info("replication")))
    return tuple(nodes)


def _name(server: redis.Redis) -> str:
    place = server.connection_pool.connection_kwargs
    return f"{place['host']}:{place['port']}"


def _facts(name: str, slots: tuple[int, ...], info: Mapping[str, Any]) -> NodeFacts:
    """Read the lines `slave0:ip=…,port=…,state=online,offset=…,lag=0`, which redis-py parses."""
    replicas = [fact for name, fact in info.items() if name.startswith("slave") and isinstance(fact, dict)]
    online = [replica for replica in replicas if replica.get("state") == "online"]
    return NodeFacts(name, slots, len(online), max((int(replica.get("lag", 0)) for replica in online), default=0))


def surplus(nodes: tuple[NodeFacts, ...]) -> tuple[NodeFacts, int]:
    """Return the primary with the most shards, and how many another one could take from it."""
    counts = Counter({node.name: len(node.slots) for node in nodes})
    fullest = max(nodes, key=lambda node: len(node.slots))
    return fullest, max(0, len(fullest.slots) - -(-counts.total() // len(nodes)))
