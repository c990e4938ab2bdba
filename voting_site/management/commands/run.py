"""`manage.py run`: start the whole site."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from voting_site.embedded import EmbeddedStoreError
from voting_site.serving import launcher


class Command(BaseCommand):
    """Start the store, migrate the accounts database, fill an empty site, and serve."""

    help = "Start the store, prepare everything, and serve the site until Ctrl-C or SIGTERM."
    requires_system_checks = []

    def handle(self, *_: Any, **__: Any) -> None:
        try:
            status = launcher.serve(self.stdout.write)
        except (EmbeddedStoreError, launcher.CannotServe) as error:
            raise CommandError(str(error)) from error
        if status:
            raise SystemExit(status)
