"""The files of a backup: JSON lines, compressed, and the manifest, with the digests that reveal damage.

Each error's message is a sentence for the operator.
"""

import errno
import gzip
import hashlib
import json
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Annotated, Any

from pydantic import Field, TypeAdapter

from articles import private_files
from articles.private_files import new_file


class BackupError(Exception):
    """A backup cannot be made or restored."""


class BackupRunning(BackupError):
    """Another process is making a backup in the same folder."""


class BackupDamaged(BackupError):
    """The backup is damaged, or this version cannot read it."""


class SiteNotEmpty(BackupError):
    """A backup is restored into an empty site only."""


MANIFEST = "manifest.json"
STORE, ACCOUNTS, SECRET_KEY = "store.jsonl.gz", "accounts.jsonl.gz", "secret_key"  # files of a backup

_REQUIRED = {STORE, ACCOUNTS}

_LARGEST_BYTES = 1 << 20  # of a manifest: it names damaged keys, of which a store that can be backed up has few
FORMAT = 1  # version of the files, as docs/backup.md describes them
_BLOCK_BYTES = 1 << 20

_Count = Annotated[int, Field(ge=0)]


@dataclass(frozen=True, slots=True)
class File:
    """A file of a backup. `lines`: the number of lines of its content, 0 if it has none."""

    bytes: _Count
    sha256: str
    lines: _Count = 0


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup holds. Times in ISO 8601, UTC."""

    id: str
    site: str  # UUID of the site
    made_at: str
    version: str  # version of the program
    layout: _Count
    shards: Annotated[int, Field(ge=1)]
    server: str
    database: str
    migrations: dict[str, str]  # the last migration of the accounts database, by app
    counts: dict[str, _Count]
    files: dict[str, File]
    unreadable: list[str] = field(default_factory=list)  # damaged keys, which are not in the backup
    format: int = FORMAT


_MANIFEST = TypeAdapter(Manifest)


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, with a digest of itself."""
    values = asdict(manifest)
    text = json.dumps(values | {"digest": _digest(values)}, indent=2, ensure_ascii=False)
    with new_file(folder / MANIFEST) as file:
        file.write(text.encode() + b"\n")


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a backup. Raises BackupDamaged."""
    path = folder / MANIFEST
    try:
        with open_file(path) as file:
            text = file.read(_LARGEST_BYTES + 1)
        if len(text) > _LARGEST_BYTES:
            raise ValueError("too large")
        values: dict[str, Any] = json.loads(text)
        recorded = values.pop("digest")
        if values["format"] > FORMAT:
            raise BackupDamaged(
                f"{folder} was made by version {values['version']!r} of the site, which writes other backups: "
                "restore it with that version or a newer one."
            )
        if recorded != _digest(values):
            raise BackupDamaged(f"{path} is damaged: its digest differs.")
        manifest = _MANIFEST.validate_python(values)
    except OSError as error:
        raise BackupDamaged(f"{folder} is not a backup: {MANIFEST}: {error.strerror}.") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BackupDamaged(f"{path} is damaged: it is not the manifest of a backup.") from error
    if not _REQUIRED <= manifest.files.keys() <= _REQUIRED | {SECRET_KEY}:
        raise BackupDamaged(f"{path} is damaged: it names other files than a backup has.")
    return manifest


def open_file(path: Path) -> IO[bytes]:
    """Open a file of a backup, which may come from elsewhere: neither a link nor a pipe. Raises OSError."""
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "not a regular file")
    return file


def verify(folder: Path, progress: Callable[[int, int], object] = lambda *_: None) -> Manifest:
    """Return the manifest once all files fit it. Raises BackupDamaged. `progress`: bytes read, of total."""
    manifest = read_manifest(folder)
    total, done, problems = sum(file.bytes for file in manifest.files.values()), 0, []
    for name, file in manifest.files.items():
        digest, size = hashlib.sha256(), 0
        try:
            with open_file(folder / name) as stream:
                while block := stream.read(_BLOCK_BYTES):
                    digest.update(block)
                    size += len(block)
                    done += len(block)
                    progress(done, total)
        except OSError as error:
            problems.append(f"{name}: {error.strerror}")
            continue
        if (size, digest.hexdigest()) != (file.bytes, file.sha256):
            problems.append(f"{name}: it differs from what was written")
    if problems:
        raise BackupDamaged(f"{folder} is damaged and was not restored: {'; '.join(problems)}.")
    return manifest


def _digest(values: dict[str, Any]) -> str:
    text = json.dumps(values, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


_COMPRESSION = 1  # higher levels take several times as long for files a fifth smaller


_LONGEST_LINE = 32 << 20  # bytes. The voters of a million take a quarter of it


class LineWriter:
    def __init__(self, packed: gzip.GzipFile) -> None:
        self._packed = packed
        self.lines = 0

    def write(self, value: Any) -> None:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        line = text.encode("utf-8", "surrogatepass") + b"\n"
        if len(line) > _LONGEST_LINE:
            raise BackupError(f"A backup cannot hold this record of {len(line):,} bytes: {text[:80]}")
        self._packed.write(line)
        self.lines += 1


@contextmanager
def new_lines(path: Path, files: dict[str, File]) -> Iterator[LineWriter]:
    """Yield a writer of a new file, which is on the disk at the end; record the file in `files`."""
    with (
        private_files.new_file(path) as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=_COMPRESSION, mtime=0) as packed,
    ):
        writer = LineWriter(packed)
        yield writer
    files[path.name] = _described(path, writer.lines)


def new_small_file(path: Path, content: bytes, files: dict[str, File]) -> None:
    """Write a small file; record it in `files`."""
    private_files.write(path, content)
    files[path.name] = _described(path)


def _described(path: Path, lines: int = 0) -> File:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return File(file.tell(), digest, lines)


def read_lines(path: Path) -> Iterator[Any]:
    """Yield the values of a file. Raises BackupDamaged."""
    try:
        with open_file(path) as raw, gzip.GzipFile(fileobj=raw) as packed:
            while line := packed.readline(_LONGEST_LINE + 1):
                if len(line) > _LONGEST_LINE:
                    raise ValueError("a line is too long")
                yield json.loads(line.decode("utf-8", "surrogatepass"))
    except (OSError, EOFError, ValueError, RecursionError, zlib.error) as error:
        raise BackupDamaged(f"{path} cannot be read: {error}.") from error
