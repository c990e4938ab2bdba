"""An import of articles from a file: its rows, the report of what was rejected, and how they enter the site."""

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from math import inf
from typing import Any, TextIO, TypeVar

from accounts.models import User
from articles.domain.articles import ArticleId, ImportedArticle
from articles.domain.comments import CommentEntry, ImportedComment
from articles.domain.members import DELETED_MEMBER, UNKNOWN_POSTER, UserId
from articles.repository import Repository
from articles.web.account_ids import patience
from extras.transfer.fields import BadRow, Reading, parse_line, read_time
from extras.transfer.files import ArticleFile, DamagedFile
from extras.transfer.lines import NUMBER, Discussion, read_row

BATCH = 2000  # articles and comments

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

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


_Batch = tuple[list[ImportedArticle], dict[int, ImportedComment]]
"""What is imported together: articles, and then comments on these and earlier ones, by line."""

_Written = tuple[list[ArticleId | None], Iterable[tuple[int, CommentEntry]]]
"""The outcome of a batch: the ids of new articles and, by line, whether each comment is in the store."""


class Import:
    """One import of one file. `reach` receives how many of its bytes are read."""

    def __init__(
        self,
        repository: Repository,
        source: ArticleFile,
        report: ImportReport,
        reach: Callable[[int], object] = lambda _: None,
    ) -> None:
        self._repository = repository
        self._source = source
        self._report = report
        self._reach = reach
        self._accounts: dict[str, tuple[UserId, str]] = {}
        self._rows = ImportRows(source, report)

    def run(self, *, unescape: bool, shift_to_now: bool) -> None:
        """Import the readable part of the file. Raises ImportRunning and, at the end, DamagedFile."""
        repository = self._repository
        reading = Reading(repository.store.now(), repository.rules.voting_window, unescape)
        if shift_to_now:
            reading = replace(reading, shift=self._shift(reading))
        batches = _one_ahead(self._write, self._batches(reading))
        with repository.imports.lock(), closing(batches):
            for ids, entries in batches:
                self._report.count_articles(ids)
                for line, entry in entries:
                    self._report.count_comment(line, entry)
                self._reach(self._source.position)
        if self._rows.damage:
            raise self._rows.damage

    def _write(self, batch: _Batch) -> _Written:
        imports, (articles, comments) = self._repository.imports, batch
        ids = imports.add(articles)
        return ids, zip(comments, imports.add_comments(list(comments.values())), strict=True)

    def _shift(self, reading: Reading) -> float:
        """Return the seconds from the newest row of the file to now, or those of its first import."""
        # Read all rows as open: the newest article will be open after the shift, when fewer votes are allowed.
        reading = replace(reading, voting_window=inf)
        newest, content = -inf, hashlib.blake2b(digest_size=16)
        for number, line in self._source.lines():
            content.update(line)
            newest = max(newest, time_if_newer(line, newest, reading))
            if number % BATCH == 0:
                self._reach(self._source.position)
        if newest == -inf:
            return 0.0
        return self._repository.imports.get_shift(content.hexdigest(), reading.now - newest)

    def _batches(self, reading: Reading) -> Iterator[_Batch]:
        """Yield batches of rows, after creating the accounts of their posters and authors."""
        rows = self._rows.iterate(reading)
        while batch := list(islice(rows, BATCH)):
            names = [row.poster_name if isinstance(row, ImportedArticle) else row.author_name for _, row in batch]
            self._make_accounts([name for name in names if name and name not in self._accounts])
            yield (
                [self._with_poster(row) for _, row in batch if isinstance(row, ImportedArticle)],
                {line: self._with_author(row) for line, row in batch if isinstance(row, ImportedComment)},
            )

    def _with_poster(self, article: ImportedArticle) -> ImportedArticle:
        """Return the article with its poster's account; with that of a deleted member if it is deleted."""
        if not article.poster_name:
            return article
        poster, name = self._accounts.get(article.poster_name, (DELETED_MEMBER, ""))
        return replace(article, poster=poster, poster_name=name)

    def _with_author(self, comment: ImportedComment) -> ImportedComment:
        author, name = self._accounts.get(comment.author_name, (DELETED_MEMBER, ""))
        return replace(comment, author=author, author_name=name)

    def _make_accounts(self, members: list[str]) -> None:
        """Find or create the accounts. The first spelling in the file names a new account."""
        with patience():  # the store may be busy with the batch before
            ids = User.objects.bulk_create_imported(members[::-1])
        names = dict(User.objects.filter(pk__in=ids.values()).values_list("pk", "username"))
        for name, user_id in ids.items():
            self._accounts[name] = user_id, names[user_id]
            self._report.record_name(name, names[user_id])


@contextmanager
def _short_turns() -> Iterator[None]:
    """Let a thread that has the store's reply wait at most a tenth as long as usual for one that computes."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(usual / 10)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


def _one_ahead(work: Callable[[_Item], _Result], items: Iterable[_Item]) -> Generator[_Result, None, None]:
    """Yield the result of `work` for each item. It runs in a thread, while the next item is prepared."""
    with _short_turns(), ThreadPoolExecutor(max_workers=1) as thread:
        running: Future[_Result] | None = None
        for item in items:
            if running:
                yield running.result()
            running = thread.submit(work, item)
        if running:
            yield running.result()
