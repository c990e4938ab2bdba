"""`manage.py import_articles`: import articles from a file, with their posting times, votes and comments."""

import hashlib
import os
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from itertools import islice
from math import inf
from typing import Any, TextIO, TypeVar

from django.core.management.base import CommandError, CommandParser
from django.db import Error as DatabaseError

from accounts.models import User
from articles.domain.articles import ArticleId, ImportedArticle
from articles.domain.comments import CommentEntry, ImportedComment
from articles.domain.members import DELETED_MEMBER, UserId
from articles.management.base import Progress, StoreCommand, progress, require_accounts
from articles.management.importing import (
    ArticleFile,
    DamagedFile,
    ImportReport,
    ImportRows,
    open_articles,
    time_if_newer,
)
from articles.management.sentences import about_accounts
from articles.repository import ImportRunning, Repository
from articles.transfer.fields import Reading
from articles.web.account_ids import patience
from articles.web.wiring import patient_repository

BATCH = 2000  # articles and comments

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_HELP = """\
Import articles from FILE, one JSON object per line, optionally compressed with gzip:
title, link, time (Unix seconds) and votes (the total); optional: poster, groups and opposes.
The rows of its comments may follow: comment (its number), time and text; optional: parent and author.
Invalid rows are reported and skipped. The import can be interrupted and repeated safely:
nothing is imported twice."""

_RUNNING = """\
Another import is running, or the site is being moved to another store: try again when that is done.
After a crash, wait two minutes."""


class Command(StoreCommand):
    """Posters and authors become members without a password. Exit status 1 if nothing could be imported."""

    help = _HELP
    when_interrupted = "Interrupted. Run it again to continue; nothing will be imported twice."
    shows_progress = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", help="file to read; - for standard input")
        parser.add_argument(
            "--unescape", action="store_true", help="decode HTML entities such as &amp; in titles, links and texts"
        )
        parser.add_argument(
            "--shift-to-now",
            action="store_true",
            help="move the newest article or comment to the current time and all others by the same amount; "
            "repeated imports of a file use the amount of the first one",
        )
        parser.add_argument("--report", metavar="REPORT", help="write every rejected row to this file")
        parser.add_argument(
            "--names",
            metavar="NAMES",
            help="write everyone who appears under another name to this file, as JSON lines with name, "
            "account and change (`renamed` or `case`)",
        )
        super().add_arguments(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        require_accounts()
        with ExitStack() as stack:
            try:
                source = stack.enter_context(open_articles(options["file"]))
                details, names = _opened_reports(stack, (options["report"], options["names"]), source)
                report = ImportReport(details, names)
            except OSError as error:
                raise CommandError(f"{error.filename or options['file']}: {error.strerror}") from error
            self._import(source, report, options)

    def _import(self, source: ArticleFile, report: ImportReport, options: dict[str, Any]) -> None:
        problem = ""
        try:
            with progress(unit="B", shown=options["progress"], total=source.size) as bar:
                importing = _Import(patient_repository(), source, report, bar)
                importing.run(unescape=options["unescape"], shift_to_now=options["shift_to_now"])
        except ImportRunning:
            raise CommandError(_RUNNING) from None
        except DatabaseError as error:
            problem = f"{about_accounts(error)} Run it again to continue."
        except DamagedFile as error:
            problem = str(error)
        for line in report.summary():
            self.stdout.write(line)
        if problem:
            raise CommandError(problem)
        if not report.imported + report.present:
            raise CommandError("Nothing could be imported.")
        self._fit_weight(options["progress"])

    def _fit_weight(self, shown: bool) -> None:
        """Fit the weight of a vote to the imported articles, unless the operator has set it."""
        with progress(unit="articles", shown=shown) as bar:
            votes_per_day = patient_repository().fit_weight(bar.reach)
        if votes_per_day is not None:
            self.stdout.write(f"{votes_per_day} votes now outweigh one day of age on the front page.")


def _opened_reports(stack: ExitStack, paths: Sequence[str | None], source: ArticleFile) -> list[TextIO | None]:
    outputs = [path for path in paths if path is not None]
    if any(map(source.is_same_as, outputs)):
        raise CommandError("The report would overwrite the file to import.")
    if len(set(map(os.path.realpath, outputs))) < len(outputs):
        raise CommandError("--report and --names need different files.")
    return [None if path is None else stack.enter_context(open(path, "w", encoding="utf-8")) for path in paths]


_Batch = tuple[list[ImportedArticle], dict[int, ImportedComment]]
"""What is imported together: articles, and then comments on these and earlier ones, by line."""

_Written = tuple[list[ArticleId | None], Iterable[tuple[int, CommentEntry]]]
"""The outcome of a batch: the ids of new articles and, by line, whether each comment is in the store."""


class _Import:
    """One import of one file."""

    def __init__(self, repository: Repository, source: ArticleFile, report: ImportReport, bar: Progress) -> None:
        self._repository = repository
        self._source = source
        self._report = report
        self._bar = bar
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
                self._bar.reach(self._source.position)
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
                self._bar.reach(self._source.position)
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
