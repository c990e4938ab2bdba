"""Files of articles for an import: their lines. Files can be compressed."""

import gzip
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import IO

from extras.transfer.fields import LONGEST_LINE

STANDARD_STREAM = "-"
_GZIP_MARK = b"\x1f\x8b"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class DamagedFile(Exception):
    """The file is truncated or corrupt."""


class ArticleFile:
    """Lines of a seekable file. Every pass over them may raise DamagedFile."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self.size = raw.seek(0, os.SEEK_END)

    @property
    def position(self) -> int:
        """Bytes read so far, of `size`."""
        return self._raw.tell()

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield number, from 1, and text of each line. Lines over the limit are truncated just above it."""
        number = 0
        try:
            for line in _lines(self._decompressed()):
                number += 1
                yield number, line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line
        except (OSError, EOFError, zlib.error) as error:
            raise DamagedFile(f"The file cannot be read beyond line {number}: {error}") from error

    def is_same_as(self, path: str) -> bool:
        return os.path.exists(path) and os.path.samestat(os.fstat(self._raw.fileno()), os.stat(path))

    def _decompressed(self) -> IO[bytes] | gzip.GzipFile:
        self._raw.seek(0)
        mark = self._raw.read(len(_GZIP_MARK))
        self._raw.seek(0)
        return gzip.GzipFile(fileobj=self._raw) if mark == _GZIP_MARK else self._raw


def _lines(source: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    while line := source.readline(LONGEST_LINE + 1):
        yield line
        while len(line) > LONGEST_LINE and not line.endswith(b"\n"):
            line = source.readline(LONGEST_LINE + 1)


@contextmanager
def open_articles(path: str) -> Iterator[ArticleFile]:
    """Open the file at that path, or standard input for `-`. Raises OSError.

    Sources that cannot be read twice, like a pipe, are copied to a temporary file first.
    """
    with nullcontext(sys.stdin.buffer) if path == STANDARD_STREAM else open(path, "rb") as source:
        if source.seekable():
            yield ArticleFile(source)
            return
        with tempfile.TemporaryFile() as copy:
            shutil.copyfileobj(source, copy)
            yield ArticleFile(copy)
