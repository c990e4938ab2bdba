"""What an import did, by cause."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TextIO

from articles.transfer.article_lines import BadRow

_LINES_SHOWN = 5


@dataclass(slots=True)
class Causes:
    """Why rows, or groups of rows, were left out: how often, and where first."""

    counts: Counter[str] = field(default_factory=Counter)
    lines: dict[str, list[int]] = field(default_factory=dict)
    examples: dict[str, str] = field(default_factory=dict)

    def note(self, line: int, bad: BadRow) -> None:
        self.counts[bad.code] += 1
        self.examples.setdefault(bad.code, str(bad))
        if len(first := self.lines.setdefault(bad.code, [])) < _LINES_SHOWN:
            first.append(line)

    def table(self) -> Iterator[str]:
        """One line for each cause, the most frequent first: count, an example's message, the first lines."""
        for code, count in self.counts.most_common():
            shown = ", ".join(map(str, self.lines[code])) + (", …" if count > len(self.lines[code]) else "")
            yield f"{count:>9,}  {self.examples[code]} ({code}: {'lines' if count > 1 else 'line'} {shown})"


@dataclass(slots=True)
class ImportReport:
    """Counts of an import.

    Each bad row is also written to `details`, each poster under another name to `names`, if there are such files.
    """

    details: TextIO | None = None
    names: TextIO | None = None
    imported: int = 0
    present: int = 0
    rows: Causes = field(default_factory=Causes)
    groups: Causes = field(default_factory=Causes)
    renamed: int = 0
    """Posters whose names are not allowed here."""

    recased: int = 0
    """Posters whose names differ from their accounts' in upper and lower case alone."""

    def row_refused(self, line: int, bad: BadRow) -> None:
        """Note a row that is left out."""
        self.rows.note(line, bad)
        self._write(line, bad)

    def group_left_out(self, line: int, bad: BadRow) -> None:
        """Note a group that an imported article is not put in."""
        self.groups.note(line, bad)
        self._write(line, bad)

    def poster_found(self, name: str, account: str) -> None:
        """Note under which account's name the articles of a poster appear."""
        if name == account:
            return
        differs_in_case = name.casefold() == account.casefold()
        self.recased += differs_in_case
        self.renamed += not differs_in_case
        if self.names is not None:
            told = {"name": name, "account": account, "change": "case" if differs_in_case else "renamed"}
            self.names.write(json.dumps(told, ensure_ascii=False) + "\n")

    def _write(self, line: int, bad: BadRow) -> None:
        if self.details is not None:
            self.details.write(f"{line}\t{bad.code}\t{bad}\n")

    def summary(self) -> Iterator[str]:
        """The lines an operator reads at the end."""
        yield f"{self.imported:,} articles imported, {self.present:,} there already."
        if refused := self.rows.counts.total():
            yield f"Rows refused: {refused:,}"
            yield from self.rows.table()
        if left_out := self.groups.counts.total():
            yield f"Groups left out of an article: {left_out:,}"
            yield from self.groups.table()
        if self.renamed:
            yield f"Posters renamed, because their names are not allowed here: {self.renamed:,}"
        if self.recased:
            yield f"Posters whose names differ from an account's only in case, and who share it: {self.recased:,}"
        if self.names is None and self.renamed + self.recased:
            yield "Run it again with --names FILE to write these names to a file."
