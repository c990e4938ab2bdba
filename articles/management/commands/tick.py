"""`manage.py tick`: the housekeeping, once or again and again."""

import signal
import sys
import threading
from argparse import ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandParser

from articles import housekeeping
from articles.housekeeping import StepResult
from articles.management.accounts import require_accounts
from articles.management.store_command import StoreCommand
from articles.wiring import patient_repository


def _interval(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 1 <= seconds <= 86400:
        raise ArgumentTypeError("a number of seconds from 1 to 86400")
    return seconds


class Command(StoreCommand):
    """Exit status 1 if a step failed; of a loop 0, whatever its rounds came to: it is meant to be stopped."""

    help = (
        "Keep house: end a change of the ranking, score the hot list, sample ranks, archive view counters, trim "
        "and expire. A running site does it by itself."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--every",
            metavar="SECONDS",
            type=_interval,
            help="do it again and again, so many seconds apart, until Ctrl-C or SIGTERM",
        )

    def handle(self, *_: Any, **options: Any) -> None:
        require_accounts()
        if options["every"] is not None:
            with _stopped_by_signals() as stopping:
                housekeeping.keep(patient_repository, options["every"], stopping, self._tell)
            return
        results = housekeeping.run(patient_repository())
        self._tell(results)
        if any(done.error for done in results):
            sys.exit(1)

    def _tell(self, results: list[StepResult]) -> None:
        for done in results:
            self.stdout.write(housekeeping.line(done))
        if not results:
            self.stdout.write("Another process keeps house just now.")
        self.stdout.flush()


@contextmanager
def _stopped_by_signals() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set: the step that is under way is finished."""
    stopping = threading.Event()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, lambda *_: stopping.set()) for number in numbers}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
