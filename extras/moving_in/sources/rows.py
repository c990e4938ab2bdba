"""What adapters share: bounded lines of files, plain or packed, and values that can be stored.

A source may be hostile. A row that cannot be used is rejected with its place and reason, and the rest is read.
"""

import gzip
import io
import json
import os
import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit

import zstandard

from extras.moving_in.models import OLD_ID_LIMIT, Kind
from extras.moving_in.sources import BadSource
from extras.moving_in.staging import COLUMNS, TABLES, Staging

LONGEST_LINE = 1_000_000  # bytes
_LONGEST_HTML = 100_000  # characters: lists in lists get longer in Markdown
_BATCH = 5_000  # rows
_FREE, _MOST_PACKED = 50_000_000, 100  # bytes unpacked, and times the packed ones, before a file is a bomb
_MOST = 10**9  # votes, or views
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"

_KINDS = {name: one.kind for columns in COLUMNS.values() for name, one in columns.items()}
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "article": ("id", "title", "time"), "comment": ("id", "time"), "member": ("id", "name"), "tag": ("id",),
    "article_tag": ("article", "tag"), "vote": ("member", "value"), "saved": ("member", "article"),
    "hidden": ("member", "article"), "follow": ("member", "tag"), "alias": ("kind", "old_id", "id"),
    "log": ("time", "action"), "former": ("source", "kind", "old_id", "id"),
}  # fmt: skip

_SETTLE = (
    "INSERT INTO bad SELECT 'comment ' || id, 'Its article is missing.' FROM comment "
    "WHERE article IS NULL OR article NOT IN (SELECT id FROM article)",
    "DELETE FROM comment WHERE article IS NULL OR article NOT IN (SELECT id FROM article)",
    "INSERT OR IGNORE INTO comment (id, article, time, text, is_deleted) "
    "SELECT parent, article, max(min(time) - 0.001, (SELECT time FROM article WHERE id = comment.article)), '', 1 "
    "FROM comment WHERE parent IS NOT NULL AND parent NOT IN (SELECT id FROM comment) GROUP BY parent",
)


class BadRow(ValueError):
    """A row that cannot be used or entered; the text tells the operator why."""


class Rows:
    """Rows on their way into the staging tables, in batches."""

    def __init__(self, staging: Staging, reach: Callable[[int], object]) -> None:
        """An interrupted run may have left rows: those without an id would be there twice."""
        self._staging, self._reach = staging, reach
        for table in (name for name, columns in TABLES.items() if "PRIMARY KEY" not in columns):
            staging.empty(table)
        self._waiting: dict[tuple[str, bool], list[tuple[Any, ...]]] = defaultdict(list)

    def add(self, table: str, *, replaces: bool = False, **values: object) -> None:
        """Add a row, which replaces an earlier one of its id or is left out if there is one. Raises BadRow."""
        row = {name: _stored(name, value) for name, value in values.items()}
        for name in _NEEDED.get(table, ()):
            if row.get(name) in (None, ""):
                raise BadRow(f"The field {name!r} of the {table} is missing.")
        batch = self._waiting[table, replaces]
        batch.append(tuple(row.get(name) for name in COLUMNS[table]))
        if len(batch) >= _BATCH:
            self.flush()

    def post(self, table: str, tags: Iterable[str] = (), **values: object) -> None:
        """Add an article or a comment, or its later version, with its groups and its author. Raises BadRow."""
        self.add(table, replaces=True, **values)
        for tag in tags:
            self.add("tag", id=tag, title=tag)
            self.add("article_tag", article=values.get("id"), tag=tag)
        if (author := values.get("author")) is not None:
            self.add("member", id=author, name=author)

    def reject(self, place: str, reason: object) -> None:
        self.add("bad", place=place, reason=str(reason))

    def flush(self) -> None:
        try:
            for (table, replaces), batch in self._waiting.items():
                self._staging.fill(table, [*COLUMNS[table]], batch, replaces=replaces)
        except sqlite3.OperationalError as error:  # such as a full disk
            raise BadSource(f"The rows of the source cannot be kept in {self._staging.path}: {error}.") from error
        self._waiting.clear()

    def read(self, rows: Iterator[tuple[str, Any]], stage: Callable[[Any], object]) -> None:
        """Let `stage` add each of these rows, which come with their places; a BadRow among them is rejected."""
        while batch := list(islice(rows, 1000)):
            for place, row in batch:
                try:
                    if isinstance(row, BadRow):
                        raise row
                    stage(row)
                except BadRow as bad:
                    self.reject(place, bad)
            self._reach(len(batch))
        self.flush()

    def read_files(self, source: str, stage: "Callable[[Rows, Any], object]") -> None:
        """Let `stage` add each object of files of JSON lines. Raises BadSource."""
        for path in files_of(source):
            self.read(objects(path), partial(stage, self))

    def settle(self) -> None:
        """Reject comments without an article. Keep the places of comments that are missing but have replies."""
        self.flush()
        for statement in _SETTLE:
            self._staging.run(statement)


def _stored(name: str, value: object) -> str | float | None:
    kind = _KINDS[name]
    if value is None:
        return None
    if kind in ("time", "number", "flag"):
        return _number(name, value)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BadRow(f"The field {name!r} is not text.")
    text = str(value).encode("utf-8", "replace").decode().replace("\0", "")
    if name == "path":
        return _path(text)
    if name == "kind" and text not in list(Kind):
        raise BadRow("The kind is unknown.")
    if kind == "id" and len(text) > OLD_ID_LIMIT:
        raise BadRow(f"The field {name!r} has more than {OLD_ID_LIMIT} characters.")
    return text or None if kind == "id" else text


def _path(address: str) -> str | None:
    """Return the path and the query of an address, as requests for it are read; None for the front page."""
    try:
        url = urlsplit(address.strip())
    except ValueError:
        raise BadRow("The old address cannot be read.") from None
    path = f"/{unquote(url.path).lstrip('/')}{'?' if url.query else ''}{url.query}"
    return path if path != "/" else None


def _number(name: str, value: Any) -> float:
    try:
        number = float(value[:40]) if isinstance(value, str) else value + 0
    except (ValueError, TypeError):
        raise BadRow(f"The field {name!r} is not a number.") from None
    low, high = (0, 10**10) if is_time(name) else (-_MOST, _MOST)
    if not low <= number < high:
        raise BadRow(f"The field {name!r} is out of range.")
    return int(number) if number == int(number) else number


def is_time(name: str) -> bool:
    return _KINDS[name] == "time"


def seconds(moment: object) -> Any:
    """Return a text in ISO 8601 as Unix seconds, in UTC without a zone, or None; what is no text as it is."""
    if not isinstance(moment, str):
        return moment
    try:
        at = datetime.fromisoformat(moment[:40].strip())
        return round((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp(), 3)
    except (ValueError, OverflowError):  # such as 0000-00-00 00:00:00
        return None


def text_of(value: object) -> str:
    """Return a text, "" for what is none."""
    return value if isinstance(value, str) else ""


def markdown(html: object) -> str:
    """Return HTML as Markdown. Raises BadRow."""
    text = text_of(html)
    if len(text) > _LONGEST_HTML:
        raise BadRow(f"The text has more than {_LONGEST_HTML:,} characters.")
    from justhtml import JustHTML  # noqa: PLC0415 - 2 MB, which processes that read no source do without

    return str(JustHTML(text, fragment=True).to_markdown())


def file_of(source: str) -> Path:
    """Return the file. Raises BadSource, also for what waits for a writer."""
    if not (path := Path(source)).is_file():
        raise BadSource(f"There is no file {source!r}.")
    return path


def files_of(source: str) -> list[Path]:
    """Return the file, or those of a folder by their names, without links out of it. Raises BadSource."""
    if not (path := Path(source)).is_dir():
        return [file_of(source)]
    found = sorted(one for one in path.rglob("[!.]*") if one.is_file() and not one.is_symlink())
    if not found:
        raise BadSource(f"There is nothing in {source!r}.")
    return found


def objects(path: Path) -> Iterator[tuple[str, "dict[str, Any] | BadRow"]]:
    """Yield the objects of a file of JSON lines with their places. Raises BadSource."""
    for number, line in lines(path):
        if line.strip():
            yield f"{path.name}:{number}", _object(line)


def _object(line: bytes) -> "dict[str, Any] | BadRow":
    if len(line) > LONGEST_LINE:
        return BadRow("The line is too long.")
    try:
        found = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        return BadRow("The line is not UTF-8 text.")
    except (ValueError, RecursionError):
        return BadRow("The line is not valid JSON.")
    return found if isinstance(found, dict) else BadRow("The line is not a JSON object.")


def lines(path: Path, longest: int = LONGEST_LINE) -> Iterator[tuple[int, bytes]]:
    """Yield number, from 1, and bytes of each line, which is cut above the limit. Raises BadSource."""
    number, unpacked, is_new = 0, 0, True
    try:
        with path.open("rb") as packed, _unpacked(packed) as file:
            while part := file.readline(longest + 1):
                number += is_new
                if is_new:
                    yield number, part.removeprefix(b"\xef\xbb\xbf") if number == 1 else part
                is_new, unpacked = part.endswith(b"\n"), unpacked + len(part)
                if unpacked > _FREE and unpacked > _MOST_PACKED * packed.tell():
                    times = f"{_MOST_PACKED} times as large when unpacked"
                    raise BadSource(f"{path.name} is {times}: it looks damaged.")
    except (OSError, EOFError, zlib.error, zstandard.ZstdError, MemoryError) as error:
        raise BadSource(f"{path.name} cannot be read beyond line {number}: {error}") from error


@contextmanager
def _unpacked(packed: IO[bytes]) -> Iterator[IO[bytes]]:
    head = packed.read(4)
    packed.seek(0)
    if head.startswith(_GZIP):
        with gzip.GzipFile(fileobj=packed) as file:
            yield file  # type: ignore[misc] # it has what is used of one
    elif head == _ZSTD:
        # The public dumps need windows of 2 GB: `zstd --long=31`.
        window = min(2**31, max(2**27, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4))
        unpacker = zstandard.ZstdDecompressor(max_window_size=window)
        with unpacker.stream_reader(packed, read_across_frames=True) as stream:
            yield io.BufferedReader(stream, 2**20)  # a raw file, says its manual
    else:
        yield packed
