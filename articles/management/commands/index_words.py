"""`manage.py index_words`: makes articles that are there already known to the search."""

from typing import Any

from django.core.management.base import CommandParser

from articles.management.progress import add_progress_argument, progress
from articles.management.store_command import StoreCommand
from articles.wiring import patient_repository


class Command(StoreCommand):
    """Safe while the site is in use, and safe to interrupt and repeat."""

    help = (
        "Index the words of articles that were posted before there was a search, or whose words are made "
        "otherwise now. A running site does it by itself, little by little."
    )
    when_interrupted = "Interrupted. Run it again to go on."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--anew", action="store_true", help="also those that are indexed already")
        add_progress_argument(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        repository = patient_repository()
        with progress(unit="articles", shown=options["progress"]) as bar:
            for done, last in repository.search.index_all(anew=options["anew"]):
                bar.reach(done, last)
        self.stdout.write(f"{repository.imports.count():,} articles can be found by their words.")
