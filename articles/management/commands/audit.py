"""`manage.py audit`: check the consistency of the store."""

import sys
from typing import Any

from django.core.management.base import CommandParser

from articles.account_ids import missing_accounts
from articles.management.progress import add_progress_argument, progress
from articles.management.store_command import StoreCommand
from articles.wiring import patient_repository


class Command(StoreCommand):
    """Read-only and safe while the site is in use. Exit status 1 if there are findings."""

    help = "Check every article, vote count, ranking and group of the store, and its accounts. Changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        add_progress_argument(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        repository = patient_repository()
        findings = 0
        with progress(unit="articles", shown=options["progress"]) as bar:
            for finding in repository.audit.run(bar.reach):
                bar.clear()
                self.stdout.write(str(finding))
                findings += 1
        for problem in missing_accounts(repository):
            self.stdout.write(problem)
            findings += 1
        if findings:
            self.stdout.write(f"{findings:,} findings." if findings > 1 else "1 finding.")
            sys.exit(1)
        self.stdout.write(f"{repository.imports.count():,} articles, no findings.")
