"""Metrics of several processes: each process writes its own files into one directory, and readers sum them.

A process's files must outlive it, or its counts would be lost. So that the directory does not grow with every
replaced worker, the counts of ended processes are added up in one set of files, with the impossible process id 0.
Readers hold a shared lock, so that no count is missed or read twice.

The files are mapped into memory. Writing to a page that has no block on a full disk ends the process (SIGBUS), so
every process reserves the blocks of its files before it counts.
"""

import fcntl
import logging
import os
import re
import struct
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prometheus_client import Metric
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable with the directory. Set before prometheus_client is imported, only for web processes."""

_log = logging.getLogger(__name__)

ENDED_PID = 0
"""Process id in the names of the sums' files."""
_LOCK = "lock"
_BEGAN = "began"
"""File with the time at which the counts began, in Unix seconds: another time means other counts."""

_KINDS = ("counter", "histogram")
"""Kinds of the site's metrics. Each process has one file for each."""

RESERVED_BYTES = 1024 * 1024
"""Size of each file: several times what a process fills, because labels come from fixed sets."""

_FILE_NAME = re.compile(r"(?:counter|histogram|summary|gauge_[a-z]+)_[0-9]+\.db")
"""Names of prometheus_client's files."""


def directory() -> Path | None:
    """Return the directory that the web server's processes share; None if this process keeps its own counts."""
    path = os.environ.get(VARIABLE)
    return Path(path) if path else None


def empty(folder: Path) -> None:
    """Delete the files of an earlier web server's processes, and no others."""
    for path in folder.iterdir():
        if _FILE_NAME.fullmatch(path.name) and path.is_file():
            path.unlink()


def begin(folder: Path) -> None:
    """Prepare a folder without counts for a web server. Raises OSError if there is no room."""
    empty(folder)
    reserve(folder, ENDED_PID)
    (folder / _BEGAN).write_text(str(time.time()))


def began_at(folder: Path) -> float | None:
    """Return when the counts in a folder began; None if no web server counts there."""
    try:
        return float((folder / _BEGAN).read_text())
    except (OSError, ValueError):
        return None


def reserve(folder: Path, pid: int) -> None:
    """Create a process's files with all their blocks. Raises OSError, and leaves no file, if there is no room.

    Called before the process counts anything: prometheus_client uses the files that it finds.
    """
    for kind in _KINDS:
        path = folder / f"{kind}_{pid}.db"
        try:
            with path.open("wb") as file:
                _allocate(file.fileno(), RESERVED_BYTES)
        except OSError:
            path.unlink(missing_ok=True)
            raise


def reserve_for_this_process() -> None:
    """Reserve files for this process, if it shares a directory with others."""
    if folder := directory():
        reserve(folder, os.getpid())


def _allocate(file: int, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)
    else:  # macOS
        os.pwrite(file, bytes(size), 0)


class AllProcesses:
    """Collector of the sums over all processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> Iterator[Metric]:
        with _locked(self._folder, fcntl.LOCK_SH):
            # A starting process first creates its file, then fills it.
            files = [str(path) for path in self._folder.glob("*.db") if path.stat().st_size]
            metrics = list(MultiProcessCollector.merge(files))  # type: ignore[no-untyped-call]
        yield from metrics


class EndedProcesses:
    """Adds up the counts of ended processes: of workers, and of what a killed web server left behind.

    Counts of a process that ends during a read are added with those of the next one, or at the next `collect`.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._waiting: set[int] = set()

    def add(self, pid: int) -> None:
        """Add the process's counts to the sums, and delete its files."""
        self._waiting.add(pid)
        self.collect()

    def collect(self) -> None:
        """Add up the counts of all processes that no longer run. Errors are logged: the counts are lost."""
        if self._folder is None:
            return
        try:
            self._waiting |= _dead_in(self._folder)
            if self._waiting and absorb(self._folder, self._waiting):
                self._waiting.clear()
        except Exception:
            _log.exception("the metrics of ended processes could not be added up")
            self._waiting.clear()


def _dead_in(folder: Path) -> set[int]:
    """Return the processes that have files and no longer run."""
    return {pid for path in folder.glob("*.db") if (pid := _pid_of(path)) != ENDED_PID and not _runs(pid)}


def _pid_of(path: Path) -> int:
    return int(path.stem.rpartition("_")[2])


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def absorb(folder: Path, ended: Iterable[int]) -> bool:
    """Add up the counts of ended processes, and delete their files. Return False while a reader holds the lock.

    Never blocks, because it runs in the process that supervises the workers; retry later.
    """
    with _locked(folder, fcntl.LOCK_EX | fcntl.LOCK_NB) as is_locked:
        if is_locked:
            for pid in ended:
                for path in folder.glob(f"*_{pid}.db"):
                    _add(path, folder / f"{path.name.rpartition('_')[0]}_{ENDED_PID}.db")
                    path.unlink()
    return is_locked


def _add(path: Path, total: Path) -> None:
    """Add a file to the sums. Skip a damaged file, which would break every later reading."""
    try:
        values = list(MmapedDict.read_all_values_from_file(str(path)))  # type: ignore[no-untyped-call]
    except (RuntimeError, ValueError, struct.error):
        _log.warning("%s is damaged: the counts of its process are lost", path)
        return
    sums: Any = MmapedDict(str(total))  # type: ignore[no-untyped-call]
    try:
        for key, value, _, _ in values:
            sums.write_value(key, sums.read_value(key)[0] + value, 0.0)
    finally:
        sums.close()


@contextmanager
def _locked(folder: Path, how: int) -> Iterator[bool]:
    """Lock the folder. Yields whether the lock is held, which can be False only with LOCK_NB."""
    with (folder / _LOCK).open("a") as file:
        try:
            fcntl.flock(file, how)
        except BlockingIOError:
            yield False
        else:
            yield True
