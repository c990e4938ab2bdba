"""`manage.py index`: build the search index of every web node again."""

from typing import Any

from articles.management.base import StoreCommand
from articles.web.wiring import patient_repository


class Command(StoreCommand):
    """Safe while the site is in use; search finds what the former index has until the new one is complete."""

    help = "Build the search index of every web node again, for example if its files are damaged."

    def handle(self, *_: Any, **__: Any) -> None:
        patient_repository().changes.begin_copy()
        self.stdout.write("The search index of every web node is built again, within seconds.")
