"""Run housekeeping in a background thread of the launcher."""

import logging
import threading
from collections.abc import Callable

logger = logging.getLogger(__name__)

STOP_TIMEOUT = 3.0
"""Seconds to wait for the current step. Steps can be interrupted safely, so there is no need to wait longer."""


class Housekeeper:
    """Run `keep(stopping)` in a thread until `stop`. Its errors do not affect the site."""

    def __init__(self, keep: Callable[[threading.Event], object]) -> None:
        self._keep = keep
        self._stopping = threading.Event()
        self._thread = self._start_thread()

    def _start_thread(self) -> threading.Thread:
        thread = threading.Thread(target=self._run, name="housekeeping", daemon=True)
        thread.start()
        return thread

    def _run(self) -> None:
        try:
            self._keep(self._stopping)
        except BaseException:
            logger.exception("housekeeping failed")

    def watch(self) -> None:
        """Restart the thread if it has ended unexpectedly."""
        if not self._thread.is_alive() and not self._stopping.is_set():
            logger.error("housekeeping had ended unexpectedly and is restarted")
            self._thread = self._start_thread()

    def ask_to_stop(self) -> None:
        """Ask the thread to end, without blocking; call `stop` afterwards."""
        self._stopping.set()

    def stop(self) -> None:
        """Ask the thread to end, and wait for it up to STOP_TIMEOUT."""
        self._stopping.set()
        self._thread.join(STOP_TIMEOUT)
        if self._thread.is_alive():
            logger.warning("housekeeping did not end within %g s and is abandoned", STOP_TIMEOUT)
