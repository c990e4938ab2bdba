"""What commands share: their base class, the check of the accounts database, signals, and the progress bar."""

import signal
import sys
import threading
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import Error as DatabaseError, connection
from django.utils.module_loading import import_string
from tqdm import tqdm

from accounts.models import User
from accounts.names import canonical
from articles.domain.errors import StoreError
from articles.management.sentences import NO_TABLES, about_accounts, about_store
from articles.web.wiring import patient_repository


def require_accounts() -> None:
    """Raise CommandError if the accounts database cannot be used or has no tables yet."""
    try:
        tables = connection.introspection.table_names()
    except DatabaseError as error:
        raise CommandError(about_accounts(error)) from error
    if User._meta.db_table not in tables:
        raise CommandError(NO_TABLES)


class Progress(tqdm):  # type: ignore[type-arg] # not generic where it runs
    """A progress bar that takes absolute positions, not increments."""

    _step = ""

    def reach(self, done: int, total: int | None = None) -> None:
        """Show that `done` items are done; `total` replaces the total."""
        if total is not None:
            self.total = total
        self.update(done - self.n)

    def reach_in(self, step: str, done: int, total: int) -> None:
        """Show the same for a step, by its name; the bar restarts with each step."""
        if step != self._step:
            self._step = step
            self.reset()
            self.set_description(step)
        self.reach(done, total)


def progress(*, unit: str, shown: bool, total: int | None = None) -> Progress:
    """Return a bar for a block, shown if stderr is a terminal, or if `shown`."""
    disable = False if shown else None
    return Progress(total=total, unit=unit, unit_scale=True, leave=False, file=sys.stderr, disable=disable)


CTRL_C = 130  # exit status by shell convention


def positive(text: str) -> int:
    """Return the value of an option that is a whole number from 1."""
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise ArgumentTypeError("a whole number from 1")
    return int(text)


def find_member(name: str, kind: str = "member", **facts: bool) -> User:
    """Return the member with a name, and these facts. Raises CommandError."""
    member = User.objects.filter(canonical_name=canonical(name), left_at=None, **facts).first()
    if member is None:
        raise CommandError(f"There is no {kind} {name}.")
    return member


class StoreCommand(BaseCommand):
    """Run with the store of the running site or, if it is not running, with one started for the command."""

    requires_system_checks = []  # they concern pages, not the store
    when_interrupted = "Interrupted."
    shows_progress = False

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        if self.shows_progress:
            parser.add_argument(
                "--progress", action="store_true", help="show the progress bar even if stderr is not a terminal"
            )

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            with import_string(settings.STORE_OPENER)():
                return super().execute(*args, **options)
        except StoreError as error:
            raise CommandError(about_store(error)) from error
        except KeyboardInterrupt:
            raise CommandError(self.when_interrupted, returncode=CTRL_C) from None

    def print_findings(self, findings: Iterable[object], bar: Progress | None = None) -> int:
        """Print each finding on its line; return how many there were."""
        number = 0
        for finding in findings:
            if bar is not None:  # a bar without a total is neither true nor false
                bar.clear()
            self.stdout.write(str(finding))
            number += 1
        return number

    def fit_weight(self, *, shown: bool) -> None:
        """Fit the weight of a vote to the articles, unless the operator has set it."""
        with progress(unit="articles", shown=shown) as bar:
            votes_per_day = patient_repository().fit_weight(bar.reach)
        if votes_per_day is not None:
            self.stdout.write(f"{votes_per_day} votes now outweigh one day of age on the front page.")

    def exit_with_findings(self, number: int) -> None:
        """End the command with status 1 if there were findings."""
        if number:
            self.stdout.write(f"{number:,} findings." if number > 1 else "1 finding.")
            sys.exit(1)


@contextmanager
def handling(handlers: Mapping[int, Callable[..., object]]) -> Iterator[None]:
    """Let these functions handle signals during the block."""
    previous_handlers = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)


@contextmanager
def stopped_by_signals() -> Iterator[threading.Event]:
    """Yield an event that Ctrl-C and SIGTERM set, so that the current step is finished first."""
    stopping = threading.Event()
    with handling(dict.fromkeys((signal.SIGINT, signal.SIGTERM), lambda *_: stopping.set())):
        yield stopping
