"""Where the embedded store keeps its files and its socket."""

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

# Neither TMPDIR nor XDG_RUNTIME_DIR: a service and a shell have different ones, and would miss each other;
# the second is also removed at log-out, under a running server.
_SOCKET_ROOT = Path("/tmp")  # noqa: S108 - only ever a private directory inside it


@dataclass(frozen=True)
class StorePaths:
    """Every path of one store. The same data directory gives the same paths in every process."""

    data_dir: Path
    socket_root: Path = _SOCKET_ROOT

    def __post_init__(self) -> None:
        object.__setattr__(self, "data_dir", self.data_dir.resolve())

    @property
    def directory(self) -> Path:
        """The server's working directory: 0700, only ours."""
        return self.data_dir / "store"

    @property
    def manifest(self) -> Path:
        """The server's list of its append-only files; without it a server starts empty."""
        return self.directory / "appendonlydir" / "appendonly.aof.manifest"

    @property
    def lock(self) -> Path:
        """Locked with flock by the owner and its server. Never deleted, or two could lock two files."""
        return self.directory / "lock"

    @property
    def stamp(self) -> Path:
        """Name and version of the newest server that has written here, as JSON."""
        return self.directory / "version.json"

    @property
    def log(self) -> Path:
        """The server's log; the run before the last rotation is beside it as `store.log.1`."""
        return self.data_dir / "store.log"

    @property
    def socket(self) -> Path:
        """In the store's directory, or in a private one under `socket_root` when that path is too long."""
        inside = self.directory / "store.sock"
        if len(os.fsencode(inside)) < _SOCKET_PATH_BYTES:
            return inside
        digest = hashlib.sha256(os.fsencode(self.data_dir)).hexdigest()[:16]
        return self.socket_root / f"voting-site-{os.geteuid()}-{digest}" / "store.sock"

    def url(self, db: int) -> str:
        """For `redis.Redis.from_url`, which unquotes the path."""
        return f"unix://{quote(os.fsencode(self.socket))}?db={db}"

    def prepare(self) -> None:
        """Make the directories; raises StoreDirectoryError for one that others own or can enter."""
        try:
            self.data_dir.mkdir(parents=True, exist_ok=True)
            _make_private(self.directory, tighten=True)
            if self.socket.parent != self.directory:
                _make_private(self.socket.parent, tighten=False)
        except OSError as error:
            raise StoreDirectoryError.from_os(error, self.directory) from error


def _make_private(directory: Path, *, tighten: bool) -> None:
    directory.mkdir(mode=0o700, exist_ok=True)
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise StoreDirectoryError(directory, "it is not a directory of its own but a link or a file")
    if found.st_uid != os.geteuid():
        raise StoreDirectoryError(directory, f"it belongs to user {found.st_uid}; run this as that user")
    if not stat.S_IMODE(found.st_mode) & 0o077:
        return
    if not tighten:
        raise StoreDirectoryError(directory, "others can enter it; remove it")
    directory.chmod(0o700)
