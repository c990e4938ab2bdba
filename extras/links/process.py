"""Start the fetching process with the site, restart it when it dies, and end it with the site."""

import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings

from extras.links.switch import SOCKET_VARIABLE, is_on
from voting_site.embedded import launch
from voting_site.embedded.supervisor import Backoff

_SERVED_SECONDS = 5.0  # a process that lives as long has served: its next one starts at once

_log = logging.getLogger(__name__)


class LinkFetcher:
    """The process that fetches links, at a socket that outlives it. For the thread that made it."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener, self._backoff = listener, Backoff()
        self._restart_at: float | None = None
        self._process = self._spawn()

    @property
    def is_settled(self) -> bool:
        """Whether it runs."""
        return self._restart_at is None

    def watch(self) -> None:
        """Restart the process if it has died, after growing delays if it does not live long."""
        if self._restart_at is None and (status := self._process.poll()) is not None:
            wait = self._backoff.after(served=time.monotonic() - self._begun_at > _SERVED_SECONDS)
            _log.warning("the process that fetches titles ended with status %d and is restarted", status)
            self._restart_at = time.monotonic() + wait
        if self._restart_at is not None and time.monotonic() >= self._restart_at:
            try:
                self._process, self._restart_at = self._spawn(), None
            except OSError as error:  # no memory or no process is left: the site lives without titles
                _log.warning("the process that fetches titles cannot be started: %s", error)
                self._restart_at = time.monotonic() + self._backoff.after(served=False)

    def renew(self) -> None:
        """Start a process with the program's current files."""
        self.stop()
        self._process = self._spawn()

    def stop(self) -> None:
        """Kill the process: it has nothing to lose."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _spawn(self) -> "subprocess.Popen[bytes]":
        """Start the process, with an empty environment and one descriptor. On Linux it ends with this thread."""
        self._begun_at = time.monotonic()
        launcher = [sys.executable, "-I", "-S", launch.__file__, str(os.getpid()), str(int(signal.SIGKILL))]
        fetcher = [sys.executable, "-s", "-m", "extras.links.fetcher"]
        return subprocess.Popen(  # nosec B603 # noqa: S603 - our own program
            [*launcher, *fetcher, str(self._listener.fileno()), settings.USER_AGENT],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            cwd=settings.BASE_DIR,
            env={},
            pass_fds=[self._listener.fileno()],
        )


@contextmanager
def keep() -> Iterator[LinkFetcher | None]:
    """Keep the process, and name its socket to those started meanwhile; None if titles are not fetched."""
    if not is_on():
        yield None
        return
    folder = Path(tempfile.mkdtemp(prefix="voting-site-links-"))  # of this user alone
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(folder / "socket"))
            listener.listen(64)
            os.environ[SOCKET_VARIABLE] = str(folder / "socket")
            fetcher = LinkFetcher(listener)
            try:
                yield fetcher
            finally:
                fetcher.stop()
    finally:
        os.environ.pop(SOCKET_VARIABLE, None)
        shutil.rmtree(folder, ignore_errors=True)
