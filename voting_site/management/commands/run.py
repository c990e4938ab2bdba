"""`manage.py run`: start the whole site."""

import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from voting_site.command_line import discard_rest
from voting_site.embedded import EmbeddedStoreError
from voting_site.serving import launcher

_log = logging.getLogger(__name__)


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
                launcher.serve(_say, runs_housekeeping=not no_housekeeping)
        except (EmbeddedStoreError, launcher.CannotServe) as error:
            raise CommandError(str(error)) from error


def _say(sentence: str) -> None:
    """Print a sentence, or log it if the output is to be JSON. A full disk of the logs must not end the site."""
    if settings.LOG_FORMAT == "json":
        without_code = re.sub(r"#\S+", "", sentence)  # logs are read by others than the first administrator
        _log.info("%s", " ".join(without_code.split()))
        return
    with suppress(OSError):
        print(sentence, flush=True)


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
