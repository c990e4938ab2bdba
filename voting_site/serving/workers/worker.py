"""One worker process: granian's event loop and HTTP parser around the gateway.

What cuts slow connections: granian, those that send no request or half a header within `patience` seconds,
including between two requests; the gateway, slow bodies and readers of long responses; `slow_readers.py`, all slow
readers.
"""

import asyncio
import logging
import math
import os
import random
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from django.conf import settings

from voting_site.serving.listener import accept_nothing
from voting_site.serving.workers.environ import Application
from voting_site.serving.workers.gateway import Gateway, PasswordForms
from voting_site.serving.workers.recent_pages import RecentPages
from voting_site.serving.workers.server import Server
from voting_site.serving.workers.slow_readers import SlowReaders

GRACE = 7.0  # seconds for current requests to finish after SIGTERM
SUCCESSION = 60.0
"""Seconds for which a worker whose parent was killed keeps serving at most, while another web server starts."""

_LOOK_SECONDS = 0.5
REQUESTS, SPREAD = 50_000, 5_000
"""After this many requests, and up to SPREAD more, a worker is replaced, so that no leak grows for ever."""

CONNECTIONS, OTHER_FILES = 8_192, 256  # connections of one worker, and the file descriptors that it needs besides
_PAUSE = 0.5
"""Seconds for the requests of connections just accepted to arrive: granian closes those that have none yet."""

_WINDOW, _LOOKS = 0.6, 20
"""Readers are judged over this share of `patience`, and examined this many times during it."""

_log = logging.getLogger(__name__)


def grace(patience: float) -> Callable[[int], float]:
    """Return after how many seconds a worker has ended that has received a signal."""
    return lambda number: (patience if number == signal.SIGHUP else 0.0) + GRACE + _PAUSE


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


def _connections() -> int:
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return min(CONNECTIONS, max(files - OTHER_FILES, files // 4))


@dataclass
class Worker:
    """A worker from its fork to its end. It keeps `alive`, one end of a pipe, open while it accepts requests.

    `parent` is the web server, `launcher` the process that restarts it.
    """

    application: Application
    listener: socket.socket
    patience: float
    alive: int
    parent: int
    launcher: int
    recent_pages: RecentPages | None = None
    _leave_by: float = math.inf

    def run(self) -> None:
        self._left = REQUESTS + random.randrange(SPREAD)  # nosec B311 # noqa: S311 - no secret
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._gateway = gateway = Gateway(
            self.application,
            threads=settings.WEB_THREADS,
            patience=self.patience,
            body_bytes=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
            served=self._count,
            password_forms=PasswordForms(settings.PASSWORD_HASHES_AT_ONCE),
            recent_pages=self.recent_pages,
        )
        self._server = Server(gateway, self.listener, patience=self.patience, connections=_connections())
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.leave)
        loop.add_signal_handler(signal.SIGHUP, self.leave, self.patience)
        self._readers = SlowReaders(self.listener, _WINDOW * self.patience)
        tasks = [loop.create_task(self._watch_parent()), loop.create_task(self._watch_readers())]
        loop.call_soon(self._say_that_it_serves)
        await self._server.serve()
        while gateway.current:  # granian does not wait for all of them
            await asyncio.sleep(_PAUSE / 10)
        for task in tasks:
            task.cancel()
        if self.recent_pages:
            self.recent_pages.close()

    def _count(self) -> None:
        self._left -= 1
        if self._left == 0:
            self.leave(self.patience)

    async def _watch_parent(self) -> None:
        """Leave after the web server and the launcher have ended, or SUCCESSION after the web server.

        The launcher sends SIGHUP once another web server serves.
        """
        while os.getppid() == self.parent:
            await asyncio.sleep(_LOOK_SECONDS)
        end = time.monotonic() + SUCCESSION
        while _is_running(self.launcher) and time.monotonic() < end:
            await asyncio.sleep(_LOOK_SECONDS)
        self.leave()

    async def _watch_readers(self) -> None:
        while True:
            await asyncio.sleep(self.patience / _LOOKS)
            if cut := self._readers.cut():
                _log.info("%d connections of slow readers were cut", cut)

    def _say_that_it_serves(self) -> None:
        if self.alive >= 0:
            os.write(self.alive, b"\n")

    def leave(self, seconds: float = 0.0) -> None:
        """Accept no more connections, close each after its next answer, and finish the current requests.

        End when no connection is left. After `seconds` end within GRACE all the same: after `patience` those are
        idle that are still open, and would be closed in any case.
        """
        self._leave_by = min(self._leave_by, time.monotonic() + max(_PAUSE, seconds))
        end = threading.Timer(seconds + GRACE, os._exit, [0])
        end.daemon = True
        end.start()
        if self.alive < 0:
            return
        os.close(self.alive)
        self.alive = -1
        self._gateway.is_leaving = True
        accept_nothing(self.listener)
        self._ending = asyncio.get_running_loop().create_task(self._end())

    async def _end(self) -> None:
        await asyncio.sleep(_PAUSE)
        while time.monotonic() < self._leave_by and self._readers.count():
            await asyncio.sleep(_LOOK_SECONDS)
        asyncio.get_running_loop().call_soon(self._server.stop)
