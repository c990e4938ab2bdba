"""`manage.py run`: start the whole site."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from voting_site.command_line import discard_rest, say
from voting_site.embedded import EmbeddedStoreError
from voting_site.serving import launcher


class Command(BaseCommand):
    """Start the store, migrate the accounts database, fill an empty site, and serve."""

    help = "Start the store, prepare everything, and serve the site until Ctrl-C or SIGTERM."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--no-housekeeping",
            action="store_true",
            help="leave housekeeping to `manage.py tick --every 60`, a service of its own",
        )

    def handle(self, *_: Any, no_housekeeping: bool, **__: Any) -> None:
        try:
            with _output_that_may_be_full():
                launcher.serve(say, runs_housekeeping=not no_housekeeping)
        except (EmbeddedStoreError, launcher.CannotServe) as error:
            raise CommandError(str(error)) from error


@contextmanager
def _output_that_may_be_full() -> Iterator[None]:
    """Discard, at the end, what could not be printed: otherwise Python would exit with a failure."""
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except OSError:
                discard_rest(stream)
