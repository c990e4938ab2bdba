"""`manage.py repair`: rebuild every list from the articles."""

from typing import Any

from articles.management.base import StoreCommand, progress
from articles.web.wiring import patient_repository


class Command(StoreCommand):
    """Safe while the site is in use, and safe to interrupt and repeat."""

    help = (
        "Rebuild rankings, groups and profiles from the articles, with the current weight of a vote, which is in "
        "the store. Articles with incomplete data are listed and not changed."
    )
    when_interrupted = "Interrupted. Run it again to finish."
    shows_progress = True

    def handle(self, *_: Any, **options: Any) -> None:
        repository = patient_repository()
        with progress(unit="articles", shown=options["progress"]) as bar:
            if repository.adopt_rules(bar.reach):
                bar.clear()
                weight = repository.parameters.get_current().seconds_per_point
                self.stdout.write(f"A point now moves an article by {weight:g} s: all articles were rescored.")

            def report(finding: object) -> None:
                bar.clear()
                self.stdout.write(str(finding))

            articles = repository.repair.run(bar.reach, report)
        self.stdout.write(f"Rebuilt all lists from {articles:,} articles.")
