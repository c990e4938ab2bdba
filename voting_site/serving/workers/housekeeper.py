"""The process that keeps house and follows the search index, forked beside the workers."""

import logging
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from django.conf import settings

from articles import housekeeping
from articles.domain.errors import StoreError
from articles.operation import outages
from articles.web.wiring import follower, patient_repository
from tasks import keep_working
from voting_site.command_line import say
from voting_site.embedded import launch
from voting_site.serving.preparation import prepare_store

NAME = "housekeeper"
_STORE_POLL = 2.0  # seconds between two attempts to prepare a store that did not answer at the start
_LOOK_SECONDS = 1.0  # until a thread that has ended is noticed

_log = logging.getLogger(__name__)

STOP_TIMEOUT = 3.0
"""Seconds to wait for the current step. Steps can be interrupted safely, so there is no need to wait longer."""


class Housekeeper:
    """Run `keep(stopping)` in a thread until that event. Its errors do not affect the site."""

    def __init__(self, keep: Callable[[threading.Event], object], stopping: threading.Event) -> None:
        self._keep, self._stopping = keep, stopping
        self._thread = self._start_thread()

    def _start_thread(self) -> threading.Thread:
        thread = threading.Thread(target=self._run, name="housekeeping", daemon=True)
        thread.start()
        return thread

    def _run(self) -> None:
        try:
            self._keep(self._stopping)
        except BaseException:
            _log.exception("housekeeping failed")

    def watch(self) -> None:
        """Restart the thread if it has ended unexpectedly."""
        if not self._thread.is_alive() and not self._stopping.is_set():
            _log.error("housekeeping had ended unexpectedly and is restarted")
            self._thread = self._start_thread()

    def wait(self) -> None:
        """Wait up to STOP_TIMEOUT for the thread, which the event ends."""
        self._thread.join(STOP_TIMEOUT)
        if self._thread.is_alive():
            _log.warning("housekeeping did not end within %g s and is abandoned", STOP_TIMEOUT)


def run(parent: int, is_prepared: bool, runs_housekeeping: bool) -> None:
    """Keep house until a signal, or until the web server has ended."""
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: stopping.set())
    launch.end_with(parent, signal.SIGTERM)
    with suppress(OSError):  # only Linux has it; `ps` and `top` show it
        Path("/proc/self/comm").write_text(NAME)
    threads = [
        Housekeeper(partial(_keep_house, is_prepared, runs_housekeeping), stopping),
        Housekeeper(lambda stopping: follower().keep(stopping), stopping),
    ]
    while not stopping.wait(_LOOK_SECONDS):
        for thread in threads:
            thread.watch()
    for thread in threads:
        thread.wait()


def _keep_house(is_prepared: bool, runs_housekeeping: bool, stopping: threading.Event) -> None:
    """Prepare the store as soon as it answers, if it did not at the start; then keep house, or only wait."""
    while not is_prepared and not stopping.is_set():
        try:
            prepare_store(say)
            is_prepared = True
        except StoreError as error:
            outages.report(error)
            stopping.wait(_STORE_POLL)
    if runs_housekeeping:
        with keep_working(stopping):
            housekeeping.keep(patient_repository, settings.TICK_SECONDS, stopping)
    else:
        stopping.wait()
