"""`manage.py audit`: check the consistency of the store."""

import random
import time
from collections.abc import Iterator
from typing import Any

from articles.backup import accounts
from articles.management.base import StoreCommand, progress
from articles.operation import extras
from articles.repository import Repository
from articles.web.ballots import check_counts
from articles.web.wiring import finder, patient_repository

_SAMPLE = 1000  # articles that the search index is compared with
_UNTIL_FOLLOWED = 3.0  # seconds after which the index contains what changed meanwhile


def _outdated(repository: Repository) -> Iterator[str]:
    """Yield articles that the search index of this machine does not contain as they are, of 1,000 at random."""
    last = repository.changes.get_last_id()
    ids = random.sample(range(1, last + 1), min(_SAMPLE, last))  # nosec B311 - no secret
    outdated = finder().list_outdated(repository, ids)
    if outdated:
        time.sleep(_UNTIL_FOLLOWED)
    for article_id in finder().list_outdated(repository, outdated):
        yield f"search index: article {article_id} is not in it as it is; `manage.py index` builds it again"


class Command(StoreCommand):
    """Read-only and safe while the site is in use. Exit status 1 if there are findings."""

    shows_progress = True
    help = "Check every article, vote count, ranking and group of the store, and its accounts. Changes nothing."

    def handle(self, *_: Any, **options: Any) -> None:
        repository = patient_repository()
        with progress(unit="articles", shown=options["progress"]) as bar:
            number = self.print_findings(repository.audit.run(bar.reach, extras.keys_of_deleted()), bar)
        if behind := finder().tell_progress(repository):
            self.stdout.write(behind)
        others = (
            *accounts.missing(repository),
            *check_counts(repository),
            *_outdated(repository),
            *extras.sentences(),
        )
        self.exit_with_findings(number + self.print_findings(others))
        self.stdout.write(f"{repository.imports.count():,} articles, no findings.")
