"""A cache of one value in a process: loaded again after some seconds, or once its state has changed."""

import time
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from threading import Lock
from typing import Generic, TypeVar

from django.db import DatabaseError

T = TypeVar("T")

KEPT_SECONDS = 10  # time after which every process shows what an administrator saved


class Recent(Generic[T]):
    """A value that is loaded at most once in `KEPT_SECONDS`, unless its state changes: `value` until `until`."""

    def __init__(
        self,
        load: Callable[[], T],
        initial: T,
        failure: type[Exception] = DatabaseError,
        state: Callable[[], str] = str,
        share: float = 1,
    ) -> None:
        """`initial`: the value while `load` fails and none was loaded.

        `share`: of the time, which loading takes at most; what loads slowly is loaded later again.
        """
        self._load, self._failure, self._state = load, failure, state
        self._share = share
        self.value, self.until, self._seen = initial, 0.0, ""
        self._numbers, self._taken, self._taking = count(1), 0, Lock()

    def get(self) -> T:
        """Return the value; while `load` fails, the last one. At most one query."""
        now, state = time.monotonic(), self._state()
        if now >= self.until or state != self._seen:
            self.until, self._seen = now + KEPT_SECONDS, state  # other threads continue with the last one
            self._take()
            loaded_at = time.monotonic()
            self.until = max(self.until, loaded_at + (loaded_at - now) / self._share)
        return self.value

    def reload(self) -> None:
        """Load the value now, even if another thread is loading it."""
        self.until = time.monotonic() + KEPT_SECONDS
        self._take()

    def _take(self) -> None:
        """Load the value, and take it unless a load that began later has ended before."""
        number = next(self._numbers)
        with suppress(self._failure):
            value = self._load()
            with self._taking:
                if number > self._taken:
                    self._taken, self.value = number, value

    def forget(self) -> None:
        """Make the next call load the value. While that fails, the last one remains."""
        self.until = 0.0
