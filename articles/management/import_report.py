"""Report of an import: what was imported, and what was rejected and why."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from articles.domain.articles import ArticleId
from articles.domain.discussion.comments import CommentEntry
from articles.transfer.fields import BadRow

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
    renamed: int = 0
    """Number of members whose names are not allowed here."""

    recased: int = 0
    """Number of members whose names differ from their accounts' only in case."""

    def count_articles(self, ids: Sequence[ArticleId | None]) -> None:
        """Count the articles of a batch; None stands for one that is already present."""
        new = sum(article_id is not None for article_id in ids)
        self.imported += new
        self.present += len(ids) - new

    def count_comment(self, line: int, entry: CommentEntry) -> None:
        """Count a comment, or record that it could not be entered."""
        if code := _REJECTED.get(entry):
            self.reject_row(line, BadRow(code))
        else:
            self.comments[entry] += 1

    def reject_row(self, line: int, bad: BadRow) -> None:
        """Record a row that is not imported."""
        self.rows.record(line, bad)
        self._write(line, bad)

    def reject_group(self, line: int, bad: BadRow) -> None:
        """Record a group that an imported article is not assigned to."""
        self.groups.record(line, bad)
        self._write(line, bad)

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

    def _write(self, line: int, bad: BadRow) -> None:
        if self.details is not None:
            self.details.write(f"{line}\t{bad.code}\t{bad}\n")

    def summary(self) -> Iterator[str]:
        """Yield the lines of the summary for the operator."""
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
