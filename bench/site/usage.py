"""What processes and the store have used: CPU time and memory from /proc, commands and round trips from INFO."""

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import redis

from articles.operation.metric_files import memory_of

_ADDITIONS = 20_000_000
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class StoreCounters:
    """Counters of a store since its start, and its memory in bytes."""

    commands: int = 0
    """Commands, including those that scripts call."""

    round_trips: int = 0
    """Reads from connections: a pipeline that fits into one read is one."""

    memory_bytes: int = 0


def cpu_seconds(pids: Iterable[int]) -> float:
    """Return the CPU time of running processes, and of those of their children that have ended."""
    ticks = 0
    for pid in pids:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime of proc(5)
    return ticks / _TICKS


def memory_bytes(pids: Iterable[int]) -> int:
    """Return the memory of processes; what they share is divided among those that share it."""
    return sum(map(memory_of, pids))


def store_counters(client: "redis.Redis | None") -> StoreCounters:
    """Return the counters of a store; zeros without one. One round trip, which is not counted."""
    if client is None:
        return StoreCounters()
    facts = client.info("everything")
    commands = sum(row["calls"] for name, row in facts.items() if name.startswith("cmdstat_"))
    return StoreCounters(
        commands - facts.get("cmdstat_info", {}).get("calls", 0),
        facts["total_reads_processed"] - facts.get("cmdstat_info", {}).get("calls", 0),
        facts["used_memory"],
    )


def addition_seconds() -> float:
    """Return the processor time of 20 million additions in Python: what the machine is worth at the moment."""
    began, total = time.process_time(), 0
    for _ in range(_ADDITIONS):
        total += 1  # noqa: SIM113
    return time.process_time() - began
