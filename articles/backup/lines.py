"""Files of JSON lines, compressed, with the digests that the manifest records."""

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from articles import private_files
from articles.backup.errors import BackupDamaged, BackupError
from articles.backup.manifest import File, open_file

_COMPRESSION = 1
"""Higher levels take several times as long for files a fifth smaller."""


_LONGEST_LINE = 32 << 20
"""Bytes. The voters of a million take a quarter of it."""


class _Digesting:
    """A binary file that computes the digest of what is written to it."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self.digest = hashlib.sha256()
        self.bytes = 0

    def write(self, data: bytes) -> int:
        self.digest.update(data)
        self.bytes += len(data)
        return self._raw.write(data)

    def flush(self) -> None:
        self._raw.flush()


class LineWriter:
    """Writes values, one a line."""

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
    with private_files.new_file(path) as raw:
        digesting = _Digesting(raw)
        packed = gzip.GzipFile(filename="", fileobj=digesting, mode="wb", compresslevel=_COMPRESSION, mtime=0)
        with packed:
            writer = LineWriter(packed)
            yield writer
    files[path.name] = File(digesting.bytes, digesting.digest.hexdigest(), writer.lines)


def new_file(path: Path, content: bytes, files: dict[str, File]) -> None:
    """Write a small file; record it in `files`."""
    with private_files.new_file(path) as raw:
        raw.write(content)
    files[path.name] = File(len(content), hashlib.sha256(content).hexdigest())


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
