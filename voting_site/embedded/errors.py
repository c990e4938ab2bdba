"""What can keep the embedded store from serving: one sentence each, for the operator."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Self

# How every refusal that is about the data itself ends.
RESTORE_HINT = "restore a backup of the whole directory (docs/operation.md says how)"


class EmbeddedStoreError(Exception):
    """Root of the tree; its text is meant to be shown as it is."""


class StoreBinaryError(EmbeddedStoreError):
    """No server binary for this machine, or one that does not run."""


class StoreDirectoryError(EmbeddedStoreError):
    """A directory or file of the store that cannot be used safely."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"The store cannot use {path}: {reason}.")

    @classmethod
    def from_os(cls, error: OSError, path: Path) -> Self:
        """The system's own reason, about the file it names or else about `path`."""
        return cls(Path(os.fsdecode(error.filename or path)), error.strerror or str(error))


class StoreVersionError(EmbeddedStoreError):
    """The files were written by a newer or another server, on which this one would start empty."""

    def __init__(self, directory: Path, found: str, written_by: str) -> None:
        super().__init__(
            f"The store in {directory} was written by {written_by} and the server here is {found}: "
            f"install {written_by} or newer, or the data could be lost."
        )


class StoreMissingError(EmbeddedStoreError):
    """A store that has held data has lost its files; the server would start empty without a word."""

    def __init__(self, directory: Path, manifest: Path) -> None:
        super().__init__(
            f"The store in {directory} has been used before but {manifest} is missing: "
            f"{RESTORE_HINT}, or empty {directory} to begin with nothing."
        )


class StoreStartError(EmbeddedStoreError):
    """The server ended before it was ready."""

    def __init__(self, status: int, log: Path, lines: Sequence[str]) -> None:
        words = " | ".join(lines) or "nothing"
        super().__init__(
            f"The store's server ended with status {status} before it was ready; {log} ends with: {words}"
        )


class StoreCorruptError(EmbeddedStoreError):
    """The server refuses to load its files."""

    def __init__(self, directory: Path, reason: str) -> None:
        super().__init__(
            f"The store in {directory} is damaged and the server refuses to load it "
            f"(it says: {reason}): {RESTORE_HINT}."
        )


class StoreTimeoutError(EmbeddedStoreError):
    """Not ready in time: still loading, or another owner that does not answer."""
