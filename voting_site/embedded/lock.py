"""The lock on a data directory: two servers on one directory lose acknowledged writes."""

import fcntl
import os
from pathlib import Path
from weakref import WeakSet

from .errors import StoreDirectoryError

_held: "WeakSet[Lock]" = WeakSet()


class Lock:
    """An flock that the server inherits, so that it stays locked for as long as either process lives."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    @property
    def held(self) -> bool:
        """False in a fork of the holder: a lock is not inherited by accident."""
        return self._file is not None

    def fileno(self) -> int:
        """For the server to inherit. Only while held."""
        if self._file is None:
            raise ValueError("the lock is not held")
        return self._file

    def acquire(self) -> bool:
        """Take it without waiting; False when another process has it."""
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreDirectoryError.from_os(error, self._path) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return False
        except OSError as error:
            os.close(file)
            raise StoreDirectoryError.from_os(error, self._path) from error
        self._file = file
        _held.add(self)
        return True

    def release(self) -> None:
        """Unlock for every process that inherited it; only call once the server has ended."""
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)
            self.forget()

    def forget(self) -> None:
        """Close our end without unlocking."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
            _held.discard(self)


def _forget_in_fork() -> None:
    for lock in list(_held):
        lock.forget()


# A forked worker (gunicorn's, say) would otherwise keep the directory locked after the owner has died.
os.register_at_fork(after_in_child=_forget_in_fork)
