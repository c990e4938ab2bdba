"""Files of articles for an import: their lines, their rows, and the report of what was rejected.

Files can be compressed.
"""

import gzip
import json
import os
import shutil
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Any, TextIO

from articles.domain.articles import ArticleId, ImportedArticle
from articles.domain.comments import CommentEntry, ImportedComment
from articles.domain.members import UNKNOWN_POSTER
from articles.transfer.fields import LONGEST_LINE, BadRow, Reading, parse_line, read_time
from articles.transfer.lines import NUMBER, Discussion, read_row

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


_LINES_SHOWN = 5

_REJECTED = {
    CommentEntry.TAKEN: "comment-number-taken",
    CommentEntry.ORPHAN: "comment-parent-gone",
    CommentEntry.NO_ARTICLE: "comment-article",
}
"""Codes of comments that cannot be entered."""


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


@dataclass(slots=True)
class Causes:
    """Causes of rejected rows or groups: how often, and on which lines first."""

    counts: Counter[str] = field(default_factory=Counter)
    lines: dict[str, list[int]] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)

    def record(self, line: int, bad: BadRow) -> None:
        self.counts[bad.code] += 1
        self.examples.setdefault(bad.code, str(bad))
        if len(first := self.lines.setdefault(bad.code, [])) < _LINES_SHOWN:
            first.append(line)

    def table(self) -> Iterator[str]:
        """Yield one line per cause, most frequent first: count, an example's message, the first line numbers."""
        for code, count in self.counts.most_common():
            shown = ", ".join(map(str, self.lines[code])) + (", …" if count > len(self.lines[code]) else "")
            yield f"{count:>9,}  {self.examples[code]} ({code}: {'lines' if count > 1 else 'line'} {shown})"


@dataclass(slots=True)
class ImportReport:
    """Counts of an import.

    Rejected rows are also written to the file `details`, and members under another name to `names`, if given.
    """

    details: TextIO | None = None
    names: TextIO | None = None
    imported: int = 0
    present: int = 0
    comments: Counter[CommentEntry] = field(default_factory=Counter)
    rows: Causes = field(default_factory=Causes)
    groups: Causes = field(default_factory=Causes)
    renamed: int = 0  # number of members whose names are not allowed here
    recased: int = 0  # number of members whose names differ from their accounts' only in case

    def count_articles(self, ids: Sequence[ArticleId | None]) -> None:
        """Count the articles of a batch; None stands for one that is already present."""
        new = sum(article_id is not None for article_id in ids)
        self.imported += new
        self.present += len(ids) - new

    def count_comment(self, line: int, entry: CommentEntry) -> None:
        """Count a comment, or record that it could not be entered."""
        if code := _REJECTED.get(entry):
            self.reject(self.rows, line, BadRow(code))
        else:
            self.comments[entry] += 1

    def reject(self, causes: Causes, line: int, bad: BadRow) -> None:
        """Record a row that is not imported in `rows`, or a group without its article in `groups`."""
        causes.record(line, bad)
        if self.details is not None:
            self.details.write(f"{line}\t{bad.code}\t{bad}\n")

    def record_name(self, name: str, account: str) -> None:
        """Record the name of the account under which a member's articles and comments appear."""
        if name == account:
            return
        differs_in_case = name.casefold() == account.casefold()
        self.recased += differs_in_case
        self.renamed += not differs_in_case
        if self.names is not None:
            row = {"name": name, "account": account, "change": "case" if differs_in_case else "renamed"}
            self.names.write(json.dumps(row, ensure_ascii=False) + "\n")

    def summary(self) -> Iterator[str]:
        yield f"{_counted(self.imported, 'article')} imported, {self.present:,} already present."
        if self.comments:
            imported, present = self.comments[CommentEntry.ENTERED], self.comments[CommentEntry.PRESENT]
            yield f"{_counted(imported, 'comment')} imported, {present:,} already present."
        if passed := self.comments[CommentEntry.PASSED]:
            yield f"{_counted(passed, 'comment')} not imported again: deleted here, or rejected earlier."
        if rejected_rows := self.rows.counts.total():
            yield f"{_counted(rejected_rows, 'row')} rejected:"
            yield from self.rows.table()
        if rejected_groups := self.groups.counts.total():
            yield f"{_counted(rejected_groups, 'group')} left out of their articles:"
            yield from self.groups.table()
        if self.renamed:
            yield f"{_counted(self.renamed, 'member')} renamed because their names are not allowed here."
        if self.recased:
            yield f"{_counted(self.recased, 'member')} assigned to an account whose name differs only in case."
        if self.names is None and self.renamed + self.recased:
            yield "Run it again with --names FILE to write these names to a file."


_COMMENT_START = f'{{"{NUMBER}":'.encode()  # beginning of the comments' lines in an export


Row = tuple[int, ImportedArticle | ImportedComment]
"""A valid row, after the number of its line. Its poster or author has a name as given, and no account."""


class ImportRows:
    """The valid rows of a file."""

    def __init__(self, source: ArticleFile, report: ImportReport) -> None:
        self._source = source
        self._report = report
        self._discussion: Discussion | None = None
        self.damage: DamagedFile | None = None  # why the file could not be read to its end

    def iterate(self, reading: Reading) -> Iterator[Row]:
        """Yield the valid rows, without stubs, which their replies enter; record the others in the report."""
        try:
            for number, line in self._source.lines():
                if line.strip() and (row := self._row(number, line, reading)):
                    yield number, row
        except DamagedFile as damage:
            self.damage = damage

    def _row(self, number: int, line: bytes, reading: Reading) -> ImportedArticle | ImportedComment | None:
        discussion = self._discussion
        try:
            if not line.startswith(_COMMENT_START):  # it may be an article, even if it cannot be read
                self._discussion = None
            fields = parse_line(line)
            if NUMBER in fields:
                self._discussion = discussion
                return _comment(fields, discussion, reading)
            article = read_row(fields, reading, partial(self._report.reject, self._report.groups, number))
        except BadRow as bad:
            self._report.reject(self._report.rows, number, bad)
            return None
        self._discussion = Discussion(article)
        return article


def _comment(fields: Mapping[str, Any], discussion: Discussion | None, reading: Reading) -> ImportedComment | None:
    if discussion is None:
        raise BadRow("comment-article")
    comment = discussion.read_row(fields, reading)
    return None if comment.place.is_stub else comment


_ANY_ARTICLE = ImportedArticle("", "", UNKNOWN_POSTER, "", 0.0, 0, 0)


def time_if_newer(line: bytes, newest: float, reading: Reading) -> float:
    """Return the time of a valid row that is newer than `newest`; otherwise `newest`."""
    try:
        fields = parse_line(line)
        if (time := read_time(fields, reading.now)) > newest:
            if NUMBER in fields:
                Discussion(_ANY_ARTICLE).read_row(fields | {"parent": None}, reading)
            else:
                read_row(fields, reading)
            return time
    except BadRow:
        pass
    return newest
