"""`manage.py configuration`: write docs/configuration.md from the table of settings."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from voting_site.configuration import variables


class Command(BaseCommand):
    help = "Print the table of all settings, or write it to docs/configuration.md."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--write", action="store_true", help="write docs/configuration.md")

    def handle(self, *_: Any, write: bool, **__: Any) -> None:
        if not write:
            self.stdout.write(variables.as_markdown())
            return
        path = settings.BASE_DIR / "docs" / "configuration.md"
        path.write_text(variables.page(), "utf-8")
        self.stdout.write(f"{path} written.")
