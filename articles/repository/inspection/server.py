"""The figures in a server's INFO, with units. Pure; a figure that the server leaves out is None."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
