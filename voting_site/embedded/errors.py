"""Errors of the embedded store, each with one sentence for the operator."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

# End of every message about damaged or missing data.
RESTORE_HINT = (
    "restore a backup with `manage.py restore`, or a copy of the whole directory (see docs/operation.md)"
)


class EmbeddedStoreError(Exception):
    """Base class; the message is shown to the operator unchanged."""


class StoreBinaryError(EmbeddedStoreError):
    """There is no server binary for this machine, or it does not run."""


class StoreDirectoryError(EmbeddedStoreError):
    """A directory or file of the store cannot be used safely."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"The store cannot use {path}: {reason}.")

    @classmethod
    @contextmanager
    def of(cls, path: Path) -> Iterator[None]:
        """Raise it for an error of the system in the block, about the file that this names or else `path`."""
        try:
            yield
        except OSError as error:
            raise cls(Path(os.fsdecode(error.filename or path)), error.strerror or str(error)) from error


class StoreVersionError(EmbeddedStoreError):
    """The files were written by a newer or a different server, so that this one would start empty."""

    def __init__(self, directory: Path, installed: str, written_by: str) -> None:
        super().__init__(
            f"The store in {directory} was written by {written_by}, but the installed server is {installed}, "
            f"which cannot read its files: install {written_by} or newer, or choose it with STORE_SERVER. "
            "To change to another server, restore a backup (see docs/backup.md)."
        )


class StoreMissingError(EmbeddedStoreError):
    """The files of a used store are missing; the server would silently start empty."""

    def __init__(self, directory: Path, manifest: Path) -> None:
        super().__init__(
            f"The store in {directory} has been used before but {manifest} is missing: "
            f"{RESTORE_HINT}, or empty {directory} to start with an empty store."
        )


class StoreStartError(EmbeddedStoreError):
    """The server ended before it was ready."""

    def __init__(self, status: int, log: Path, lines: Sequence[str]) -> None:
        last_lines = " | ".join(lines) or "(empty)"
        super().__init__(
            f"The store's server ended with status {status} before it was ready; last lines of {log}: {last_lines}"
        )


class StoreCorruptError(EmbeddedStoreError):
    """The server cannot load its files, or would leave some out."""

    def __init__(self, directory: Path, reason: str) -> None:
        super().__init__(f"The store in {directory} is damaged and cannot be loaded ({reason}): {RESTORE_HINT}.")


class StoreTimeoutError(EmbeddedStoreError):
    """The store is not ready in time: it is still loading, or another owner's server does not answer."""
