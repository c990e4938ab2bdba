"""`manage.py verify_ballots`: check the ballot records, their chain and the counts."""

from typing import Any

from articles.management.base import StoreCommand, progress
from articles.web.wiring import patient_repository
from extras.integrity.verify_ballots import Seen
from extras.integrity.verifying import verify


class Command(StoreCommand):
    """Read-only and safe while the site is in use. Exit status 1 if there are findings."""

    shows_progress = True
    help = "Recount every closed article from its ballot record, and check the chain of records. Changes nothing."

    def handle(self, *_: Any, **options: Any) -> None:
        seen = Seen()
        with progress(unit="records", shown=options["progress"]) as bar:
            number = self.print_findings(verify(patient_repository(), bar.reach, seen), bar)
        self.exit_with_findings(number)
        self.stdout.write(f"No findings. {seen}")
