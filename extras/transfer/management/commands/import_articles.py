"""`manage.py import_articles`: import articles from a file, with their posting times, votes and comments."""

import os
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, TextIO

from django.core.management.base import CommandError, CommandParser
from django.db import Error as DatabaseError

from articles.management.base import StoreCommand, progress, require_accounts
from articles.management.sentences import IMPORT_RUNNING, about_accounts
from articles.repository import ImportRunning
from articles.web.wiring import patient_repository
from extras.transfer.files import ArticleFile, DamagedFile, open_articles
from extras.transfer.importing import Import, ImportReport

_HELP = """\
Import articles from FILE, one JSON object per line, optionally compressed with gzip:
title, link, time (Unix seconds) and votes (the total); optional: poster, groups and opposes.
The rows of its comments may follow: comment (its number), time and text; optional: parent and author.
Invalid rows are reported and skipped. The import can be interrupted and repeated safely:
nothing is imported twice."""


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
                importing = Import(patient_repository(), source, report, bar.reach)
                importing.run(unescape=options["unescape"], shift_to_now=options["shift_to_now"])
        except ImportRunning:
            raise CommandError(IMPORT_RUNNING) from None
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
        self.fit_weight(shown=options["progress"])


def _opened_reports(stack: ExitStack, paths: Sequence[str | None], source: ArticleFile) -> list[TextIO | None]:
    outputs = [path for path in paths if path is not None]
    if any(map(source.is_same_as, outputs)):
        raise CommandError("The report would overwrite the file to import.")
    if len(set(map(os.path.realpath, outputs))) < len(outputs):
        raise CommandError("--report and --names need different files.")
    return [None if path is None else stack.enter_context(open(path, "w", encoding="utf-8")) for path in paths]
