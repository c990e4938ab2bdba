"""`manage.py demo`: fill an empty site with demo content."""

from typing import Any

from django.core.management.base import CommandError

from articles.demo.seeding import seed
from articles.management.accounts import require_accounts
from articles.management.store_command import StoreCommand
from articles.repository import ImportRunning
from articles.wiring import patient_repository


class Command(StoreCommand):
    """Refuse a site that has articles. Safe to interrupt and repeat."""

    help = "Fill an empty site with members, groups, articles and votes, and create two logins to try it with."
    when_interrupted = "Interrupted. Run it again to finish."

    def handle(self, *_: Any, **__: Any) -> None:
        require_accounts()
        try:
            message = seed(patient_repository())
        except ImportRunning:
            raise CommandError("An import is running: try again when it has finished.") from None
        if message is None:
            raise CommandError("The site has articles already: demo content can be added only to an empty site.")
        self.stdout.write(message)
