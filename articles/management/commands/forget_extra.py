"""`manage.py forget_extra`: remove what an extra left behind."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from articles.management.base import StoreCommand, progress, require_accounts
from articles.operation import extras
from articles.web.wiring import patient_repository


class Command(StoreCommand):
    help = (
        "Remove the tables, settings, waiting tasks, keys and fields of articles of an extra whose folder was "
        "deleted. Only a backup from before has them then."
    )
    when_interrupted = "Interrupted. Run it again to finish."
    shows_progress = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the name of the folder")
        super().add_arguments(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        require_accounts()
        name = options["name"]
        try:
            record = extras.record_of(name)
        except extras.ExtraIsHere:
            raise CommandError(f"extras/{name} is here: delete the folder first, then run this again.") from None
        if record:
            with progress(unit="keys", shown=options["progress"]) as bar:
                patient_repository().repair.remove_leftovers(record.keys, record.article_fields, bar.reach)
            extras.forget(record)
        left = f"; there is also data of {', '.join(others)}" if (others := extras.deleted()) else ""
        done = f"All data of {name} is removed" if record else f"There is no data of {name}"
        self.stdout.write(f"{done}{left}.")
