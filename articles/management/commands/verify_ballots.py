"""`manage.py verify_ballots`: check the ballot records, their chain and the counts."""

import sys
from typing import Any

from django.core.management.base import CommandParser

from articles.management.base import StoreCommand, add_progress_argument, progress
from articles.wiring import patient_repository
from integrity.verifying import verify
from tools.verify_ballots import Seen


class Command(StoreCommand):
    """Read-only and safe while the site is in use. Exit status 1 if there are findings."""

    help = "Recount every closed article from its ballot record, and check the chain of records. Changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        add_progress_argument(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        findings, seen = 0, Seen()
        with progress(unit="records", shown=options["progress"]) as bar:
            for finding in verify(patient_repository(), bar.reach, seen):
                bar.clear()
                self.stdout.write(finding)
                findings += 1
        if findings:
            self.stdout.write(f"{findings:,} findings." if findings > 1 else "1 finding.")
            sys.exit(1)
        self.stdout.write(f"No findings. {seen}")
