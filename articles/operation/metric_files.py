"""Metrics of several processes: each counts in two files of its own, which prometheus_client adds up.

A process has a number while it runs, and another goes on counting in the files of its number afterwards. So no
count is lost, and there are never more files than for the processes that ran at the same time.

The files are mapped into memory. Writing to a page that has no block on a full disk ends the process (SIGBUS), so
the blocks of all files are reserved before any process counts.
"""

import fcntl
import os
import time
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import IO

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable with the folder. Set before prometheus_client is imported, only for web processes."""

_BEGAN = "began"  # file with the time at which the counts began, in Unix seconds: another time means other counts
KINDS = ("counter", "histogram")  # kinds of the site's metrics. Each process has one file for each
RESERVED_BYTES = 1024 * 1024
"""Size of each file: several times what a process fills, because labels come from fixed sets."""


def begin(folder: Path, processes: int) -> None:
    """Prepare an empty folder for a number of processes at once. Raises OSError if there is no room."""
    for number in range(processes):
        for kind in KINDS:
            with (folder / f"{kind}_{number}.db").open("wb") as file:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, RESERVED_BYTES)
                else:  # macOS
                    file.write(bytes(RESERVED_BYTES))
    (folder / _BEGAN).write_text(str(time.time()))


def began_at(folder: Path) -> float | None:
    """Return when the counts in a folder began; None if no web server counts there."""
    try:
        return float((folder / _BEGAN).read_text())
    except (OSError, ValueError):
        return None


_taken: tuple[int, IO[str]] | None = None
"""The number of this process, and the file whose lock says so; the lock ends with the process."""


def take_number() -> None:
    """Let this process count under a number that no running process has.

    Called before any metric is defined, and again in each process forked from this one. Does nothing if the
    process keeps its own counts.
    """
    global _taken
    folder = os.environ.get(VARIABLE)
    if not folder:
        return
    from prometheus_client import multiprocess, values  # noqa: PLC0415 - not in the launcher, which counts nothing

    for number in count():
        lock = (Path(folder) / f"{number}.lock").open("a")  # what another process has written stays
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            continue
        with suppress(OSError):  # on a full disk it counts all the same
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
        multiprocess.mark_process_dead(number, folder)  # type: ignore[no-untyped-call]
        is_first, _taken = _taken is None, (number, lock)
        if is_first:
            values.ValueClass = values.MultiProcessValue(_number)  # type: ignore[no-untyped-call]
        return


def memory_in(folder: Path) -> list[int]:
    """Return the bytes that each process takes that counts in a folder: see `memory_of`."""
    with suppress(OSError):  # the web server is ending
        return [memory for lock in folder.glob("*.lock") if (memory := memory_of(lock.read_text()))]
    return []


def memory_of(pid: object) -> int:
    """Return the bytes of a process, with its part of what it shares (Pss of proc(5)); 0 if ended or off Linux."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines():
            if line.startswith("Pss:"):
                return 1024 * int(line.split()[1])
    return 0


def _number() -> int:
    return _taken[0] if _taken else os.getpid()
