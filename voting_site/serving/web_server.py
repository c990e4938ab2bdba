"""Run the web server as a child process that never outlives this one, and restart it when it dies.

The first process prepares the site; those that replace it only serve it. Each says when it serves. At a reload the
former process serves until then.
"""

import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from articles.operation import metric_files
from voting_site.configuration.hosts import in_address
from voting_site.embedded import launch
from voting_site.embedded.supervisor import Backoff
from voting_site.serving.listener import CannotServe

STOP_TIMEOUT = 8.5  # seconds for current requests to finish

PATIENCE = float(os.environ.get("WEB_PATIENCE_SECONDS", "20"))
"""Seconds after which slow connections are cut. The variable is for tests, which have less time."""

_log = logging.getLogger(__name__)


@dataclass
class _Process:
    """A web server's process, and the socket that is its standard input."""

    process: "subprocess.Popen[bytes]"
    link: socket.socket
    serves: bool = False

    def has_served(self) -> bool:
        """Return whether a worker of it has begun to accept requests."""
        if not self.serves:
            with suppress(OSError):  # not yet
                self.serves = bool(self.link.recv(1))
        return self.serves

    def signal_all(self, number: int) -> None:
        """Send a signal to it and to its workers, which may outlive it."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)


class WebServer:
    """The process that runs the workers. All methods are called from the thread that started it."""

    def __init__(
        self, host: str, port: int, listeners: Sequence[socket.socket], metrics: Path, *, runs_housekeeping: bool
    ) -> None:
        """`metrics` is the folder in which the workers count."""
        self._host, self._port, self._runs_housekeeping = host, port, runs_housekeeping
        self._listeners = listeners
        self._metrics = metrics
        self._backoff = Backoff()
        self._former: list[_Process] = []
        self._restart_at: float | None = None
        self.has_begun = False  # whether one of its processes has served
        self._current = self._spawn()

    @property
    def is_settled(self) -> bool:
        """Whether it serves, and nothing is to be done until a process ends."""
        return self._current.serves and self._restart_at is None and not self._former

    def watch(self) -> None:
        """Restart the server if it has died: at once if it has served, after growing delays if it has not.

        Exits as the first process does that ends before it has served; raises CannotServe if it was killed.
        """
        if self._restart_at is None and (status := self._current.process.poll()) is not None:
            if not self.has_begun and not self._current.has_served():
                if status > 0:  # it has said why
                    sys.exit(status)
                raise CannotServe(f"The web server ended with status {status}, before it served.")
            wait = self._backoff.after(served=self._current.has_served())
            _log.error("the web server ended with status %d and is restarted", status)
            self._restart_at = time.monotonic() + wait
        if self._restart_at is not None and time.monotonic() >= self._restart_at:
            if self._current.serves:
                self._former.append(self._current)  # its workers
            self._current = self._spawn()
            self._restart_at = None
        if not self._current.serves and self._current.has_served():
            if self.has_begun:
                _log.info("the web server answers")
            self.has_begun = True
            for former in self._former:
                former.signal_all(signal.SIGHUP)
        if self._current.serves:
            self._former = [former for former in self._former if former.process.poll() is None]

    def reload(self) -> None:
        """Start a server with the program's current files. The old one serves until then, and retires."""
        if self._current.process.poll() is None:
            self._former.append(self._current)
            self._current = self._spawn()

    def stop(self) -> None:
        """Stop the server after its current requests. Kill it after STOP_TIMEOUT. Does nothing the second time."""
        processes = [one.process for one in (self._current, *self._former)]
        for one in (self._current, *self._former):
            one.signal_all(signal.SIGTERM)
        end = time.monotonic() + STOP_TIMEOUT
        for process in processes:
            try:
                process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _spawn(self) -> _Process:
        """Start the process. It does not get the terminal's Ctrl-C, and on Linux it ends with this thread."""
        descriptors = [listener.fileno() for listener in self._listeners]
        launcher = [sys.executable, "-I", "-S", launch.__file__, str(os.getpid()), str(int(signal.SIGTERM))]
        server = [sys.executable, "-m", "voting_site.serving.workers", f"{in_address(self._host)}:{self._port}"]
        modes = ["prepare"] * (not self.has_begun) + ["housekeeping"] * self._runs_housekeeping
        link, other_end = socket.socketpair()
        link.setblocking(False)
        with other_end:
            process = subprocess.Popen(  # nosec B603 # noqa: S603 - our own program
                [*launcher, *server, ",".join(map(str, descriptors)), str(PATIENCE), *modes],
                stdin=other_end.fileno(),
                start_new_session=True,
                cwd=settings.BASE_DIR,
                env=os.environ | {metric_files.VARIABLE: str(self._metrics)},
                pass_fds=descriptors,
            )
        return _Process(process, link)
