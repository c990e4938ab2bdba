"""`manage.py forget_extra`: remove what an extra left behind."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from articles.management.base import StoreCommand, require_accounts
from articles.operation import extras


class Command(StoreCommand):
    help = (
        "Remove the tables, settings and waiting tasks of an extra whose folder was deleted. "
        "Only a backup from before has its rows then."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the name of the folder")
        super().add_arguments(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        require_accounts()
        name = options["name"]
        try:
            was_here = extras.forget(name)
        except extras.ExtraIsHere:
            raise CommandError(f"extras/{name} is here: delete the folder first, then run this again.") from None
        left = f"; there is also data of {', '.join(others)}" if (others := extras.deleted()) else ""
        done = f"All data of {name} is removed" if was_here else f"There is no data of {name}"
        self.stdout.write(f"{done}{left}.")
