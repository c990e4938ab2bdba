"""Paths of the embedded store's files and socket."""

import hashlib
import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from .errors import StoreDirectoryError

# sizeof(sockaddr_un.sun_path), the closing NUL included: unix(7) of Linux and of macOS.
_SOCKET_PATH_BYTES = 104 if sys.platform == "darwin" else 108

# Not TMPDIR or XDG_RUNTIME_DIR: they differ between a service and a shell, which would not find each other's
# socket. XDG_RUNTIME_DIR is also deleted at logout, even while a server is running.
_SOCKET_ROOT = Path("/tmp")  # nosec B108 # noqa: S108 - only for a private directory in it


@dataclass(frozen=True)
class StorePaths:
    """All paths of one store. They depend only on the data directory, so all processes agree on them."""

    data_dir: Path
    socket_root: Path = _SOCKET_ROOT

    def __post_init__(self) -> None:
        object.__setattr__(self, "data_dir", self.data_dir.resolve())

    @property
    def directory(self) -> Path:
        """The server's working directory, private to this user (0700)."""
        return self.data_dir / "store"

    @property
    def manifest(self) -> Path:
        """The server's list of its append-only files. Without it, a server starts empty."""
        return self.directory / "appendonlydir" / "appendonly.aof.manifest"

    @property
    def lock(self) -> Path:
        """Lock file of the owner and its server. Never deleted, or two processes could lock two files."""
        return self.directory / "lock"

    @property
    def stamp(self) -> Path:
        """Name and version of the newest server that has written the store, as JSON."""
        return self.directory / "version.json"

    @property
    def verification(self) -> Path:
        """Digests of the append-only files, as JSON."""
        return self.directory / "verified.json"

    @property
    def log(self) -> Path:
        """The server's log; the previous one is `store.log.1`."""
        return self.data_dir / "store.log"

    @property
    def socket(self) -> Path:
        """The socket, in the store's directory or, if that path is too long, in a private one in `socket_root`."""
        inside = self.directory / "store.sock"
        if len(os.fsencode(inside)) < _SOCKET_PATH_BYTES:
            return inside
        digest = hashlib.sha256(os.fsencode(self.data_dir)).hexdigest()[:16]
        return self.socket_root / f"voting-site-{os.geteuid()}-{digest}" / "store.sock"

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
