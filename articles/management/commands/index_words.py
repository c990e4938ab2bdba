"""`manage.py index_words`: index existing articles for the search."""

from typing import Any

from django.core.management.base import CommandParser

from articles.management.progress import add_progress_argument, progress
from articles.management.store_command import StoreCommand
from articles.wiring import patient_repository


class Command(StoreCommand):
    """Safe while the site is in use, and safe to interrupt and repeat."""

    help = (
        "Index articles that are not in the search index yet, or were indexed by an older version. "
        "A running site does this by itself, in batches."
    )
    when_interrupted = "Interrupted. Run it again to continue."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--anew", action="store_true", help="reindex all articles")
        add_progress_argument(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        repository = patient_repository()
        with progress(unit="articles", shown=options["progress"]) as bar:
            for done, last in repository.search.index_all(restart=options["anew"]):
                bar.reach(done, last)
        self.stdout.write(f"{repository.imports.count():,} articles are searchable.")
