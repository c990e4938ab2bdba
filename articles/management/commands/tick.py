"""`manage.py tick`: run housekeeping, once or repeatedly."""

import sys
from argparse import ArgumentTypeError
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from articles import housekeeping
from articles.housekeeping import StepResult
from articles.management.base import StoreCommand, require_accounts, stopped_by_signals
from articles.web.wiring import patient_repository
from tasks import keep_working


def _interval(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 1 <= seconds <= 86400:
        raise ArgumentTypeError("a number of seconds from 1 to 86400")
    return seconds


class Command(StoreCommand):
    """Exit status 1 if a step failed; with --every always 0, because the loop runs until it is stopped."""

    help = (
        "Run housekeeping: finish a change of the ranking, rescore the hot list, sample ranks, archive view "
        "counters, trim and expire. A running site does this by itself."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--every", metavar="SECONDS", type=_interval, help="repeat at this interval until Ctrl-C or SIGTERM"
        )

    def handle(self, *_: Any, **options: Any) -> None:
        require_accounts()
        if options["every"] is not None:
            with stopped_by_signals() as stopping, keep_working(stopping):
                housekeeping.keep(patient_repository, options["every"], stopping, self._report)
            return
        results = housekeeping.run(patient_repository())
        self._report(results)
        if any(result.error for result in results):
            sys.exit(1)

    def _report(self, results: list[StepResult]) -> None:
        if settings.LOG_FORMAT == "json":
            return  # housekeeping logs its steps
        for result in results:
            self.stdout.write(housekeeping.line(result))
        if not results:
            self.stdout.write("Another process is running housekeeping.")
        self.stdout.flush()
