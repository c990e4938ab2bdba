"""The figures in a server's INFO, with units, its slow commands, and how its replicas follow. Read-only.

A figure that the server does not report is None. Slow commands are scripts by name, without secrets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
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
_OF_COMMANDS = "cmdstat_"


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
    evicted: int | None  # evicted keys: always 0 in a store that the site accepts
    is_replica: bool


@dataclass(frozen=True, slots=True)
class Memory:
    """The server's memory, in bytes. `limit` is None if not set."""

    used: int | None
    peak: int | None
    resident: int | None
    limit: int | None
    policy: str | None  # what the server does at the limit: `noeviction` in a store that the site accepts
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


def overview_of(*infos: Mapping[str, Any]) -> Overview:
    """Return the figures of the servers with these replies to `INFO everything`.

    Several servers are combined: sums, or the worst value where a sum means nothing.
    """
    first, total = infos[0], partial(_total, infos)
    uptimes = [info["uptime_in_seconds"] for info in infos if "uptime_in_seconds" in info]
    return Overview(
        Server(
            name="Valkey" if "valkey_version" in first else "Redis",
            version=", ".join(sorted({str(_first_of(info, "valkey_version", "redis_version")) for info in infos})),
            uptime=min(uptimes, default=None),
            clients=total("connected_clients"),
            replicas=total("connected_slaves"),
            commands_per_second=total("instantaneous_ops_per_sec"),
            commands=total("total_commands_processed"),
            refused_connections=total("rejected_connections"),
            evicted=total("evicted_keys"),
            is_replica=any(info.get("role") == "slave" for info in infos),
        ),
        Memory(
            used=total("used_memory"),
            peak=total("used_memory_peak"),
            resident=total("used_memory_rss"),
            limit=total("maxmemory") if all(info.get("maxmemory") for info in infos) else None,
            policy=first.get("maxmemory_policy"),
            fragmentation=max(info.get("mem_fragmentation_ratio", 0.0) for info in infos) or None,
        ),
        AppendOnly(
            enabled=all(info.get("aof_enabled") for info in infos),
            last_write_ok=all(info.get("aof_last_write_status", "ok") == "ok" for info in infos),
            last_rewrite_ok=all(info.get("aof_last_bgrewrite_status", "ok") == "ok" for info in infos),
            rewriting=any(info.get("aof_rewrite_in_progress") for info in infos),
            size=total("aof_current_size"),
            size_after_rewrite=total("aof_base_size"),
            delayed_syncs=total("aof_delayed_fsync"),
        ),
        _commands(infos),
    )


def _total(infos: Sequence[Mapping[str, Any]], name: str) -> int | None:
    """Return the sum of a figure; None if a server leaves it out."""
    values = [info.get(name) for info in infos]
    return None if None in values else sum(values)  # type: ignore[arg-type]


def _first_of(info: Mapping[str, Any], *names: str) -> object:
    return next((info[name] for name in names if name in info), "")


def _commands(infos: Sequence[Mapping[str, Any]]) -> tuple[CommandTimes, ...]:
    parts: dict[str, list[tuple[Mapping[str, Any], Mapping[str, float]]]] = {}
    for info in infos:
        for key in (key for key in info if key.startswith(_OF_COMMANDS)):
            name = key.removeprefix(_OF_COMMANDS)
            parts.setdefault(name, []).append((info[key], info.get(f"latency_percentiles_usec_{name}", {})))
    commands = (_times(name, *zip(*found, strict=True)) for name, found in parts.items())
    return tuple(sorted(commands, key=lambda one: -one.calls * one.mean)[:_COMMANDS_SHOWN])


def _times(
    name: str, stats: Sequence[Mapping[str, Any]], percentiles: Sequence[Mapping[str, float]]
) -> CommandTimes:
    calls = sum(one["calls"] for one in stats)

    def seconds(key: str) -> float | None:
        return max((one[key] / 1e6 for one in percentiles if key in one), default=None)

    return CommandTimes(
        name=name.replace("|", " ").upper(),
        calls=calls,
        mean=sum(one["usec"] for one in stats) / max(1, calls) / 1e6,
        median=seconds("p50"),
        p99=seconds("p99"),
        failed=sum(one.get("failed_calls", 0) + one.get("rejected_calls", 0) for one in stats),
    )


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """One primary. `slots`: of its shards, on a cluster; `lag`: seconds since its slowest replica reported."""

    name: str
    slots: tuple[int, ...]
    replicas: int
    lag: int


def list_nodes(store: Store) -> tuple[NodeFacts, ...]:
    """Return the facts of each primary. One round trip to each. Raises redis.ResponseError without INFO."""
    if not isinstance(store.client, ClusterClient):
        with store.commands() as client:
            return (_facts("", (), client.info("replication")),)
    slots: dict[str, list[int]] = {}
    for keys in store.shards.all:
        with store.commands() as client:
            place = _name(client.nodes.node_of(keys.prefix))
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
