"""Values that a process often reads from the accounts database, and keeps for some seconds."""

import time
from collections.abc import Callable
from typing import Generic, TypeVar

from django.db import DatabaseError

T = TypeVar("T")

KEPT_SECONDS = 10
"""Time after which every process shows what an administrator saved."""


class Recent(Generic[T]):
    """A value that is loaded at most once in `KEPT_SECONDS`."""

    def __init__(self, load: Callable[[], T], initial: T) -> None:
        """`initial`: the value while the database is unavailable and none was loaded."""
        self._load, self._initial = load, initial
        self._value, self._until = initial, 0.0

    def get(self) -> T:
        """Return the value; while the database is unavailable, the last one. At most one query."""
        now = time.monotonic()
        if now >= self._until:
            self._until = now + KEPT_SECONDS  # other threads continue with the last one
            try:
                self._value = self._load()
            except DatabaseError:
                return self._value
        return self._value

    def forget(self) -> None:
        """Make the next call load the value."""
        self._value, self._until = self._initial, 0.0
