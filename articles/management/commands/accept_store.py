"""`manage.py accept_store`: use another store than before, or the same one with other accounts."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from articles import known_store
from articles.management.sentences import about_accounts


class Command(BaseCommand):
    """Needs no store. Safe to repeat."""

    help = "Let the next start use the store that it finds, even if it is empty or belonged to other accounts."

    def handle(self, *_: Any, **__: Any) -> None:
        try:
            call_command("migrate", interactive=False, verbosity=0)  # the accounts may be new
            known_store.accept_any()
        except DatabaseError as error:
            raise CommandError(about_accounts(error)) from error
        self.stdout.write("The next start uses the store that it finds.")
