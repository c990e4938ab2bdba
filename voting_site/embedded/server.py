"""One run of the server, from the start of its process to its end, with its configuration and its log."""

import logging
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Event
from typing import BinaryIO

from . import launch, probe
from .lock import Lock
from .paths import EmbeddedStoreError, StoreCorruptError, StoreDirectoryError, StorePaths

_SETTINGS = {
    # Only this user can connect, and only by the socket.
    "port": "0",
    "unixsocketperm": "700",
    "enable-debug-command": "no",
    "enable-module-command": "no",
    "enable-protected-configs": "no",
    # Acknowledged writes are on disk.
    "appendonly": "yes",
    "appendfsync": "always",
    "aof-use-rdb-preamble": "yes",
    "aof-load-truncated": "yes",  # an incomplete last write was never acknowledged
    "save": "",
    # Sets of ids (words, groups, voters) up to this size are integer arrays, at a tenth of a hash table's memory.
    "set-max-intset-entries": "16384",
    # An article's fields stay one array although some are long: a third less memory than a hash table.
    "hash-max-listpack-value": "2048",
    # A full store rejects writes and never evicts keys.
    "maxmemory-policy": "noeviction",
    "databases": "4",  # 0 articles, 1 cache and sessions, two spare
    "hz": "2",  # its own upkeep in a second, of 10: half of what it takes while nothing is asked
    # The supervisor runs it in the foreground; its output is the log.
    "daemonize": "no",
    "supervised": "no",
}

_ALLOCATOR = Path(f"/usr/lib/{platform.machine()}-linux-gnu/libjemalloc.so.2")
"""Of Debian's package libjemalloc2, if it is installed: with it the wheel's server, which is built without, takes
two thirds of the processor time, and a megabyte more memory. LD_PRELOAD, even empty, takes precedence."""


def arguments(paths: StorePaths, overrides: Mapping[str, str]) -> list[str]:
    """Return `--name value` for each setting; `overrides` replace settings or add to them."""
    settings = _SETTINGS | {"dir": str(paths.directory), "unixsocket": str(paths.socket)} | dict(overrides)
    return [argument for name, value in settings.items() for argument in (f"--{name}", value)]


_ROTATE_BYTES = 10 * 1024 * 1024
_QUOTED_BYTES = 64 * 1024
_LINE = re.compile(r"^\d+:[A-Z] \d+ \S+ \d{4} \S+ [-.*#] (?P<message>.*)$")  # pid:role day time level message
_NOISE = "WARNING Memory overcommit"


class ServerLog:
    """The log of one run of the server."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._start = 0

    def open(self) -> BinaryIO:
        """Open the file for appending."""
        self.bound()
        file = open(self.path, "ab", opener=_open_private)  # noqa: SIM115 - the caller closes it
        self._start = file.tell()
        return file

    def bound(self) -> None:
        """Move what is in a log over 10 MB to `<name>.1`, also while a server appends to it. Best-effort.

        Without free descriptors, the server writes megabytes a second.
        """
        with suppress(OSError):
            if self.path.stat().st_size <= _ROTATE_BYTES:
                return
            former = self.path.with_name(f"{self.path.name}.1")
            former.unlink(missing_ok=True)  # its space may be needed
            self._start = 0
            try:
                os.close(os.open(former, os.O_WRONLY | os.O_CREAT, 0o600))
                shutil.copyfile(self.path, former)
            finally:
                os.truncate(self.path, 0)  # even on a full disk

    def messages(self) -> list[str]:
        """Return the last lines of this run, oldest first, without pid, date and level."""
        with self.path.open("rb") as file:
            end = file.seek(0, os.SEEK_END)
            file.seek(max(self._start, end - _QUOTED_BYTES))
            lines = file.read().decode("utf-8", "replace").splitlines()
        messages = (match["message"] if (match := _LINE.match(line)) else line for line in lines)
        return [message for message in messages if message.strip() and not message.startswith(_NOISE)]


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


logger = logging.getLogger("voting_site.embedded")

_READY_POLL = 0.02  # seconds
_LOADING_REPORT = 1.0  # seconds between two lines about a slow load
_DAMAGE = re.compile(  # all messages with which the server, since 7.0, rejects its files
    r"Bad file format|[Ee]rror reading|Unexpected end of file|Unable to obtain|AOF manifest|handle RDB format"
    r"|Internal error in RDB|Wrong RDB checksum|RDB has duplicated key|Guru Meditation|ASSERTION FAILED"
)
_ADVICE = re.compile(r": make a backup of your AOF file, .*")  # which names a tool that may not be there
_TRUNCATED = re.compile(r"Truncating the AOF")


class Server:
    """A server process. Its owner holds the lock, and calls all methods from the thread that spawned it."""

    def __init__(self, paths: StorePaths, binary: Path, lock: Lock, overrides: Mapping[str, str]) -> None:
        """Start a server. On Linux it ends with the calling *thread*; elsewhere it may outlive it."""
        self._paths, self.log = paths, ServerLog(paths.log)
        environment = {"LD_PRELOAD": str(_ALLOCATOR)} if _ALLOCATOR.exists() else {}
        # SIGKILL ends a stopped server, too. Acknowledged writes are on disk.
        launcher = [sys.executable, "-I", "-S", launch.__file__, str(os.getpid()), str(int(signal.SIGKILL))]
        with StoreDirectoryError.of(paths.directory):
            paths.socket.unlink(missing_ok=True)  # left by a killed server: the lock proves that none is running
            with self.log.open() as output:
                self.process = subprocess.Popen(  # nosec B603 # noqa: S603 - our own binary
                    [*launcher, str(binary), *arguments(paths, overrides)],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    cwd=paths.directory,
                    env=environment | os.environ,
                    pass_fds=[lock.fileno()],
                    start_new_session=True,  # only the supervisor handles the terminal's Ctrl-C
                    umask=0o077,
                )

    @property
    def status(self) -> int | None:
        """Exit status of the process; None while it runs, negative for the signal that ended it."""
        return self.process.poll()

    def wait_until_ready(self, stopping: Event) -> bool:
        """Block until the server is ready. Return False if `stopping` is set first.

        There is no time limit while the process runs, because a large file takes minutes to load. Raises
        EmbeddedStoreError if the process ends.
        """
        report = time.monotonic() + _LOADING_REPORT
        while not stopping.wait(_READY_POLL):
            self.log.bound()
            answer = probe.ping(self._paths.socket)
            if answer is probe.Answer.READY:
                self._warn_if_truncated()
                return True
            if self.status is not None:
                raise self._failure(self.status)
            if answer is probe.Answer.LOADING and time.monotonic() >= report:
                logger.info("the store is loading: %.0f %% read", probe.loaded_percent(self._paths.socket))
                report = time.monotonic() + _LOADING_REPORT
        return False

    def stop(self, timeout: float) -> None:
        """Terminate the server and wait until it has ended. Kill it after `timeout` seconds."""
        if self.status is None:
            self.process.terminate()
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                logger.warning("the store's server did not end within %g s and is killed", timeout)
                self.process.kill()
                self.process.wait()
        self._paths.socket.unlink(missing_ok=True)

    def _failure(self, status: int) -> EmbeddedStoreError:
        messages = self.log.messages()
        damage = [message for message in messages if _DAMAGE.search(message)]
        if damage:
            return StoreCorruptError(self._paths.directory, f"the server says: {_ADVICE.sub('', damage[-1])}")
        return EmbeddedStoreError(
            f"The store's server ended with status {status} before it was ready; last lines of {self.log.path}: "
            f"{' | '.join(messages[-5:]) or '(empty)'}"
        )

    def _warn_if_truncated(self) -> None:
        for message in self.log.messages():
            if _TRUNCATED.search(message):
                logger.warning("the last write to the store was incomplete and is dropped: %s", message)
