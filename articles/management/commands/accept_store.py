"""`manage.py accept_store`: use another store than before."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from articles import known_store
from articles.management.sentences import about_accounts


class Command(BaseCommand):
    """Needs no store. Safe to repeat."""

    help = "Let the next start use the store that it finds, even if it is empty or belongs to other accounts."

    def handle(self, *_: Any, **__: Any) -> None:
        try:
            was_known = known_store.forget()
        except DatabaseError as error:
            raise CommandError(about_accounts(error)) from error
        self.stdout.write(
            "The next start uses the store that it finds." if was_known else "There is no store to forget."
        )
