"""Lock a data directory: two servers in one directory would lose acknowledged writes."""

import fcntl
import os
from pathlib import Path

from .paths import StoreDirectoryError


class Lock:
    """An flock that the server inherits, so that the directory is locked while either process runs.

    A fork of the holder would hold it, too: processes that own a store start others by `subprocess` only.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    @property
    def held(self) -> bool:
        return self._file is not None

    def fileno(self) -> int:
        """Return the file descriptor for the server to inherit. Raises ValueError unless held."""
        if self._file is None:
            raise ValueError("the lock is not held")
        return self._file

    def acquire(self) -> bool:
        """Acquire the lock without blocking. Return False if another process holds it."""
        with StoreDirectoryError.of(self._path):
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                os.close(file)
                if isinstance(error, BlockingIOError):
                    return False
                raise
        self._file = file
        return True

    def release(self) -> None:
        """Release the lock for every process that inherited it. Call only after the server has ended."""
        if self._file is not None:
            fcntl.flock(self._file, fcntl.LOCK_UN)
            os.close(self._file)
            self._file = None


def is_held(path: Path) -> bool:
    """Return whether any process holds the lock. Creates nothing."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False
