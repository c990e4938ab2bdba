"""The housekeeping of a running site, in a thread of the launcher, which has nothing else to do."""

import logging
import threading
from collections.abc import Callable

logger = logging.getLogger(__name__)

STOP_TIMEOUT = 3.0
"""Seconds for the step that is under way. All can be interrupted, so none is waited for any longer."""


class Housekeeper:
    """Runs `keep(stopping)` in a thread until it is asked to stop; the site goes on whatever happens there."""

    def __init__(self, keep: Callable[[threading.Event], object]) -> None:
        self._keep = keep
        self._stopping = threading.Event()
        self._thread = self._begin()

    def _begin(self) -> threading.Thread:
        thread = threading.Thread(target=self._run, name="housekeeping", daemon=True)
        thread.start()
        return thread

    def _run(self) -> None:
        try:
            self._keep(self._stopping)
        except BaseException:
            logger.exception("the housekeeping died")

    def watch(self) -> None:
        """Begin anew if it ended although nobody asked it to."""
        if not self._thread.is_alive() and not self._stopping.is_set():
            logger.error("the housekeeping had ended and is started again")
            self._thread = self._begin()

    def ask_to_stop(self) -> None:
        """Let it end by itself; to be followed by `stop`."""
        self._stopping.set()

    def stop(self) -> None:
        """Return when it has ended, or when it had time enough to."""
        self._stopping.set()
        self._thread.join(STOP_TIMEOUT)
        if self._thread.is_alive():
            logger.warning("the housekeeping did not end within %g s and is left alone", STOP_TIMEOUT)
