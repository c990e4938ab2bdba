"""Keep the workers running: replace those that end, and stop them all."""

import logging
import math
import os
import select
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from voting_site.embedded.supervisor import Backoff

_POLL = 0.1  # seconds until an ended worker or a signal is noticed

_log = logging.getLogger(__name__)


@dataclass
class _Entry:
    """A running worker: the read end of its pipe, -1 once it accepts no more requests, and whether it began to.

    `number`: below the size of the pool; another worker has the same one only once this accepts no more requests.
    """

    number: int
    pipe: int
    served: bool = False


class Pool:
    """Processes that run `work(number, alive)`.

    `number`: from 0 to `size` - 1. `alive`: the write end of a pipe, open while they accept requests; they write a
    byte when they begin to.
    """

    def __init__(
        self, work: Callable[[int, int], None], size: int, began: Callable[[], object] = lambda: None
    ) -> None:
        """`began` is called when the first worker accepts requests."""
        self._work = work
        self._began: Callable[[], object] | None = began
        self._size = size
        self._workers: dict[int, _Entry] = {}
        self._backoff = Backoff()
        self._not_before = 0.0

    def run(self, signals: Sequence[int], grace: Callable[[int], float]) -> None:
        """Keep `size` workers accepting requests until signals arrive; pass these on.

        Kill the workers that have not ended `grace(signal)` seconds after the last one.
        """
        while not signals:
            self._start_missing()
            self._see_who_leaves()
            self._reap()
        passed_on, end = 0, math.inf
        while self._workers and time.monotonic() < end:
            for number in signals[passed_on:]:
                self._signal(number)
                passed_on, end = passed_on + 1, time.monotonic() + grace(number)
            time.sleep(_POLL / 10)
            self._reap()
        self._signal(signal.SIGKILL)

    def _start_missing(self) -> None:
        missing = set(range(self._size)) - {entry.number for entry in self._workers.values() if entry.pipe >= 0}
        if missing and time.monotonic() >= self._not_before:
            for number in missing:
                self._fork(number)

    def _fork(self, number: int) -> None:
        read, write = os.pipe()
        pid = os.fork()
        if pid:
            os.close(write)
            self._workers[pid] = _Entry(number, read)
            return
        status = 1
        try:
            os.close(read)
            self._work(number, write)
            status = 0
        except BaseException:
            _log.exception("a worker failed")
        finally:
            logging.shutdown()
            os._exit(status)  # not into the code of the parent

    def _see_who_leaves(self) -> None:
        """Wait a moment for workers that close their pipe, because they have ended or accept no more requests."""
        pipes = [entry.pipe for entry in self._workers.values() if entry.pipe >= 0]
        readable, _, _ = select.select(pipes, [], [], _POLL)
        for entry in self._workers.values():
            if entry.pipe not in readable:
                continue
            if os.read(entry.pipe, 1):
                entry.served = True
                if self._began:
                    self._began()
                    self._began = None
            else:
                os.close(entry.pipe)
                entry.pipe = -1
                self._not_before = time.monotonic() + self._backoff.after(served=entry.served)

    def _reap(self) -> None:
        for pid in list(self._workers):
            if (ended := os.waitpid(pid, os.WNOHANG))[0]:
                entry = self._workers.pop(pid)
                if entry.pipe >= 0:
                    os.close(entry.pipe)
                if status := os.waitstatus_to_exitcode(ended[1]):
                    _log.warning("worker %d ended with status %d", pid, status)

    def _signal(self, number: int) -> None:
        for pid in self._workers:
            os.kill(pid, number)
