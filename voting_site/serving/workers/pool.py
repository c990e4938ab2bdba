"""Keep the workers running: replace those that end, and stop them all."""

import logging
import math
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from voting_site.embedded.supervisor import Backoff
from voting_site.serving.signals import Signals

_LOOK_SECONDS = 1.0  # until a worker that had left is reaped; one that accepts no more is replaced at once
_POLL = 0.01  # seconds until the end of a worker is noticed that is to end

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

    def run(self, signals: Signals, grace: Callable[[int], float]) -> None:
        """Keep `size` workers accepting requests until signals arrive; pass these on.

        Kill the workers that have not ended `grace(signal)` seconds after the last one.
        """
        while not signals.received:
            self._start_missing()
            self._see_who_leaves(signals)
            self._reap()
        passed_on, end = 0, math.inf
        while self._workers and time.monotonic() < end:
            for number in signals.received[passed_on:]:
                self._signal(number)
                passed_on, end = passed_on + 1, time.monotonic() + grace(number)
            time.sleep(_POLL)
            self._reap()
        self._signal(signal.SIGKILL)

    def _start_missing(self) -> None:
        if time.monotonic() >= self._not_before:
            for number in self._missing():
                self._fork(number)

    def _missing(self) -> set[int]:
        return set(range(self._size)) - {entry.number for entry in self._workers.values() if entry.pipe >= 0}

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
            signal.set_wakeup_fd(-1)  # it is the parent's
            self._work(number, write)
            status = 0
        except BaseException:
            _log.exception("a worker failed")
        finally:
            logging.shutdown()
            os._exit(status)  # not into the code of the parent

    def _see_who_leaves(self, signals: Signals) -> None:
        """Wait a moment for workers that close their pipe, because they have ended or accept no more requests."""
        pipes = [entry.pipe for entry in self._workers.values() if entry.pipe >= 0]
        pause = max(0.0, self._not_before - time.monotonic()) if self._missing() else _LOOK_SECONDS
        readable = signals.wait(pause, pipes)
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
