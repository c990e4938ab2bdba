"""Paths of the embedded store's files and socket, and the errors about them."""

import hashlib
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

# sizeof(sockaddr_un.sun_path), the closing NUL included: unix(7) of Linux and of macOS.
_SOCKET_PATH_BYTES = 104 if sys.platform == "darwin" else 108

# Not TMPDIR or XDG_RUNTIME_DIR: they differ between a service and a shell, which would not find each other's
# socket. XDG_RUNTIME_DIR is also deleted at logout, even while a server is running.
_SOCKET_ROOT = Path("/tmp")  # nosec B108 # noqa: S108 - only for a private directory in it

# End of every message about damaged or missing data.
RESTORE_HINT = (
    "restore a backup with `manage.py restore`, or a copy of the whole directory (see docs/operation.md)"
)


class EmbeddedStoreError(Exception):
    """The store cannot be used. The message, one sentence, is shown to the operator unchanged."""


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


class StoreCorruptError(EmbeddedStoreError):
    """The server cannot load its files, or would leave some out."""

    def __init__(self, directory: Path, reason: str) -> None:
        super().__init__(f"The store in {directory} is damaged and cannot be loaded ({reason}): {RESTORE_HINT}.")


class StorePaths:
    """All paths of one store. They depend only on the data directory, so all processes agree on them."""

    def __init__(self, data_dir: Path, socket_root: Path = _SOCKET_ROOT) -> None:
        self.data_dir = data_dir.resolve()
        self.log = self.data_dir / "store.log"  # the previous one is `store.log.1`
        self.directory = self.data_dir / "store"  # the server's working directory, private to this user (0700)
        self.lock = self.directory / "lock"  # never deleted, or two processes could lock two files
        self.stamp = self.directory / "version.json"  # the newest server that has written the store
        self.verification = self.directory / "verified.json"  # digests of the append-only files
        self.manifest = self.directory / "appendonlydir" / "appendonly.aof.manifest"
        """The server's list of its append-only files. Without it, a server starts empty."""

        self.socket = self.directory / "store.sock"
        if len(os.fsencode(self.socket)) >= _SOCKET_PATH_BYTES:  # then in a private directory
            digest = hashlib.sha256(os.fsencode(self.data_dir)).hexdigest()[:16]
            self.socket = (
                socket_root / f"voting-site-{os.geteuid()}-{digest}" / "store.sock"
            )  # a private directory

    def url(self, db: int) -> str:
        """Return the URL for `redis.Redis.from_url`, which unquotes the path."""
        return f"unix://{quote(os.fsencode(self.socket))}?db={db}"

    def prepare(self) -> None:
        """Create the directories. Raises StoreDirectoryError for one that other users own or can access."""
        with StoreDirectoryError.of(self.directory):
            self.data_dir.mkdir(parents=True, exist_ok=True)
            for directory in (self.directory, self.socket.parent):
                directory.mkdir(mode=0o700, exist_ok=True)
            self.check()
            self.directory.chmod(0o700)

    def check(self) -> None:
        """Raise StoreDirectoryError for a directory that exists, but is not this user's own."""
        for directory in (self.directory, self.socket.parent):
            if os.path.lexists(directory):
                _check_own(directory, others_may_enter=directory == self.directory)


def _check_own(directory: Path, *, others_may_enter: bool) -> None:
    status = directory.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise StoreDirectoryError(directory, "it is not a directory but a link or a file")
    if status.st_uid != os.geteuid():
        raise StoreDirectoryError(directory, f"it belongs to user {status.st_uid}; run this as that user")
    if stat.S_IMODE(status.st_mode) & 0o077 and not others_may_enter:
        raise StoreDirectoryError(directory, "other users can access it; delete it")


def write_whole(path: Path, text: str) -> None:
    """Write a file atomically and synced to disk. Raises OSError."""
    draft = path.with_name(f"{path.name}.new")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
