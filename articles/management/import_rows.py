"""Rows of articles and comments in the order of a file; invalid ones are recorded in the report."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from articles.management.article_file import ArticleFile, DamagedFile
from articles.management.import_report import ImportReport
from articles.transfer.article_lines import Row, read_row
from articles.transfer.comment_lines import NUMBER, CommentRow, Discussion
from articles.transfer.fields import BadRow, Reading, parse_line, read_time

_COMMENT_START = f'{{"{NUMBER}":'.encode()
"""Beginning of the comments' lines in an export."""


@dataclass(frozen=True, slots=True)
class RowOfComment:
    """The row of a comment, its line in the file, and its article."""

    line: int
    row: CommentRow
    article: Row


class ImportRows:
    """The valid rows of a file."""

    def __init__(self, source: ArticleFile, report: ImportReport) -> None:
        self._source = source
        self._report = report
        self._discussed: tuple[Row, Discussion] | None = None
        self.damage: DamagedFile | None = None
        """Why the file could not be read to its end."""

    def iterate(self, reading: Reading) -> Iterator[Row | RowOfComment]:
        """Yield the valid rows, without stubs, which their replies enter; record the others in the report."""
        try:
            for number, line in self._source.lines():
                if line.strip() and (row := self._row(number, line, reading)):
                    yield row
        except DamagedFile as damage:
            self.damage = damage

    def _row(self, number: int, line: bytes, reading: Reading) -> Row | RowOfComment | None:
        discussed = self._discussed
        try:
            if not line.startswith(_COMMENT_START):  # it may be an article, even if it cannot be read
                self._discussed = None
            fields = parse_line(line)
            if NUMBER in fields:
                self._discussed = discussed
                return self._comment(number, fields, reading)
            row = read_row(fields, reading)
        except BadRow as bad:
            self._report.reject_row(number, bad)
            return None
        self._discussed = row, Discussion()
        for bad_group in row.left_out:
            self._report.reject_group(number, bad_group)
        return row

    def _comment(self, number: int, fields: Mapping[str, Any], reading: Reading) -> RowOfComment | None:
        if self._discussed is None:
            raise BadRow("comment-article")
        article, discussion = self._discussed
        row = discussion.read_row(fields, reading)
        return None if row.place.is_stub else RowOfComment(number, row, article)


def time_if_newer(line: bytes, newest: float, reading: Reading) -> float:
    """Return the time of a valid row that is newer than `newest`; otherwise `newest`."""
    try:
        fields = parse_line(line)
        if (time := read_time(fields, reading.now)) > newest:
            if NUMBER in fields:
                Discussion().read_row({name: fields[name] for name in fields if name != "parent"}, reading)
            else:
                read_row(fields, reading)
            return time
    except BadRow:
        pass
    return newest
