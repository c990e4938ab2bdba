"""`manage.py demo`: fill an empty site with demo content, or remove it."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from accounts.models import User
from articles.management.base import StoreCommand, require_accounts
from articles.repository import ImportRunning
from articles.web.wiring import patient_repository
from extras.transfer.demo.seeding import DemoNotAlone, remove, seed


class Command(StoreCommand):
    """Refuse a site that has other articles. Safe to interrupt and repeat."""

    help = (
        "Fill an empty site with members, groups, articles and votes, and create two logins to try it with; or "
        "remove all that, unless other articles were posted."
    )
    when_interrupted = "Interrupted. Run it again to finish."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--remove", action="store_true", help="delete the demo's articles, groups and accounts"
        )

    def handle(self, *_: Any, **options: Any) -> None:
        require_accounts()
        try:
            if options["remove"]:
                self._remove()
                return
            message = seed(patient_repository())
        except ImportRunning:
            raise CommandError("An import is running: try again when it has finished.") from None
        if message is None:
            raise CommandError("The site already has articles: demo content can only be added to an empty site.")
        self.stdout.write(message)

    def _remove(self) -> None:
        try:
            articles, accounts = remove(patient_repository())
        except DemoNotAlone as error:
            raise CommandError(
                f"{error} The demo content can only be removed before other articles are posted: remove its "
                "articles as a moderator, or start with an empty DATA_DIR and DEMO=0."
            ) from error
        self.stdout.write(f"{articles:,} articles and {accounts:,} accounts of the demo deleted.")
        if not User.objects.exists():
            self.stdout.write("Set DEMO=0: otherwise the next start adds the demo content again.")
