"""Log an outage when it begins, once a minute while it lasts, and when it ends, instead of at every request."""

import logging
import time
from collections.abc import Callable
from threading import Lock

from articles.domain.errors import StoreError

_log = logging.getLogger(__name__)

_REPORT_EVERY = 60.0  # seconds between two reports of an outage that lasts
_STEADY = 5.0
"""Seconds without a failure after which an outage has ended: a store that refuses writes still answers reads."""


class Outage:
    """One service that requests need, as this process sees it."""

    def __init__(self, service: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._service = service
        self._clock = clock
        self._lock = Lock()
        self.began: float | None = None  # when the outage began that is reported; None without one
        self._reported = self._last_failure = 0.0
        self._failures = 0

    def failed(self, error: Exception) -> None:
        """Count a request that failed because the service was unavailable."""
        with self._lock:
            now = self._clock()
            if self.began is None or now - self._last_failure > _REPORT_EVERY:
                self.began = self._reported = now
                self._failures = 0
                _log.error("%s is unavailable: %s: %s", self._service, type(error).__name__, error)
            elif now - self._reported >= _REPORT_EVERY:
                self._reported = now
                _log.error(
                    "%s is unavailable since %.0f s, %d requests failed; now: %s: %s",
                    self._service, now - self.began, self._failures + 1, type(error).__name__, error,
                )  # fmt: skip
            self._failures += 1
            self._last_failure = now

    def answered(self) -> None:
        if self.began is None or self._clock() - self._last_failure < _STEADY:
            return
        with self._lock:
            if self.began is not None:
                lasted = self._last_failure - self.began
                _log.warning("%s is back after %.1f s; %d requests failed", self._service, lasted, self._failures)
                self.began = None


STORE = Outage("the store")
ACCOUNTS = Outage("the accounts database")


def report(error: Exception) -> None:
    """Count a request that failed because of the store or, for any other error, the accounts database."""
    (STORE if isinstance(error, StoreError) else ACCOUNTS).failed(error)
