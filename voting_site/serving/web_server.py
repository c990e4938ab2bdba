"""Run the web server as a child process that never outlives this one, and restart it when it dies.

The process imports the site at once, and serves when it is let: so the launcher prepares the site meanwhile.
"""

import http.client
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from django.conf import settings

from articles.operation import metric_files
from voting_site.configuration.hosts import in_address
from voting_site.embedded import launch
from voting_site.embedded.supervisor import Backoff
from voting_site.serving.listener import CannotServe

STOP_TIMEOUT = 8.5
"""Seconds for current requests to finish."""

PATIENCE = float(os.environ.get("WEB_PATIENCE_SECONDS", "20"))
"""Seconds after which slow connections are cut. The variable is for tests, which have less time."""

_PROBE_TIMEOUT = 1.0

_log = logging.getLogger(__name__)


class WebServer:
    """The process that runs the workers. All methods are called from the thread that started it."""

    def __init__(self, host: str, port: int, listeners: Sequence[socket.socket], metrics: Path) -> None:
        """`metrics` is the folder in which the workers count."""
        self._host, self._port = host, port
        self._listeners = listeners
        self._metrics = metrics
        self._backoff = Backoff()
        self._retired: list[subprocess.Popen[bytes]] = []
        self._restart_at: float | None = None
        self._served = False
        self._process = self._spawn()

    def let_serve(self) -> None:
        """Tell the process, which has begun to import the site, that everything is prepared."""
        if self._process.stdin:
            with suppress(BrokenPipeError):  # it has ended, which is noticed later
                self._process.stdin.write(b"\n")
            self._process.stdin.close()

    def wait_until_answering(self, stopping: Callable[[], bool]) -> None:
        """Block until the server answers, or until `stopping()`. Raises CannotServe if it ends."""
        while not stopping() and not self._answers():
            if self._process.poll() is not None:
                raise CannotServe(
                    f"The web server ended with status {self._process.returncode}; see the lines above."
                )
            time.sleep(0.05)

    def watch(self) -> None:
        """Restart the server if it has died: at once if it has served, after growing delays if it has not."""
        self._retired = [process for process in self._retired if process.poll() is None]
        if self._restart_at is None and self._process.poll() is not None:
            wait = self._backoff.after(served=self._served)
            _log.error("the web server ended with status %d and is restarted", self._process.returncode)
            self._restart_at = time.monotonic() + wait
        if self._restart_at is not None and time.monotonic() >= self._restart_at:
            self._process, self._restart_at, self._served = self._spawn(), None, False
            self.let_serve()
        if not self._served and self._restart_at is None and self._answers():
            _log.info("the web server answers")

    def reload(self) -> None:
        """Start a server with the program's current files. The old one finishes its requests and ends."""
        if self._process.poll() is None:
            self._process.terminate()
            self._retired.append(self._process)
            self._process, self._served = self._spawn(), False
            self.let_serve()

    def stop(self) -> None:
        """Stop the server after its current requests. Kill it after STOP_TIMEOUT. Does nothing the second time."""
        processes = [self._process, *self._retired]
        for process in processes:
            if process.poll() is None:
                process.terminate()
        end = time.monotonic() + STOP_TIMEOUT
        for process in processes:
            try:
                process.wait(max(0.0, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _spawn(self) -> "subprocess.Popen[bytes]":
        """Start the process. It does not get the terminal's Ctrl-C, and on Linux it ends with this thread."""
        descriptors = [listener.fileno() for listener in self._listeners]
        launcher = [sys.executable, "-I", "-S", launch.__file__, str(os.getpid()), str(int(signal.SIGTERM))]
        server = [sys.executable, "-m", "voting_site.serving.workers", f"{in_address(self._host)}:{self._port}"]
        return subprocess.Popen(  # nosec B603 # noqa: S603 - our own program
            [*launcher, *server, ",".join(map(str, descriptors)), str(PATIENCE)],
            bufsize=0,
            stdin=subprocess.PIPE,
            start_new_session=True,
            cwd=settings.BASE_DIR,
            env=os.environ | {metric_files.VARIABLE: str(self._metrics)},
            pass_fds=descriptors,
        )

    def _answers(self) -> bool:
        """Send a request; return whether it was answered."""
        target = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self._host, self._host)  # noqa: S104 - where to connect
        connection = http.client.HTTPConnection(target, self._port, timeout=_PROBE_TIMEOUT)
        try:
            connection.request("GET", "/healthz", headers={"Host": "localhost"})
            connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()
        self._served = True
        return True
