"""`manage.py export_site`: write the site for a successor, in a documented format."""

import resource
import time
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import Error as DatabaseError

from articles.configuration.choices import chosen
from articles.management.base import StoreCommand, progress, require_accounts
from articles.management.sentences import about_accounts
from articles.web.wiring import patient_repository
from extras.moving_in.exporting import Export, new_folder

_HELP = """\
Write everything public to files that import_site reads, with the addresses of the site. Nothing is changed."""

_PRIVATE = """\
DIR has what only a trusted successor may have: addresses, password hashes, votes, closed groups.
Only you can read it."""


class Command(StoreCommand):
    """The folder appears under its name only when it is complete."""

    help = _HELP
    when_interrupted = "Interrupted: nothing was written."
    shows_progress = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", metavar="DIR", help="a new or empty folder")
        parser.add_argument(
            "--private", action="store_true", help="for a trusted successor: password hashes as well"
        )
        super().add_arguments(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        require_accounts()
        folder, is_private, began = Path(options["folder"]), options["private"], time.monotonic()
        try:
            with new_folder(folder, is_private=is_private or chosen.is_for_members) as part:
                repository = patient_repository()
                with progress(unit="articles", shown=options["progress"], total=repository.imports.count()) as bar:
                    rows = Export(repository, part, bar.reach, is_private=is_private).write()
        except FileExistsError as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{error.filename or folder}: {error.strerror}") from error
        except DatabaseError as error:
            raise CommandError(about_accounts(error)) from error
        for name, number in rows.items():
            self.stdout.write(f"{number:>11,}  {name}")
        seconds, peak = time.monotonic() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        self.stdout.write(f"Written to {folder} in {seconds:,.0f} s; at most {peak:,} MB of memory.")
        if is_private:
            self.stdout.write(self.style.WARNING(_PRIVATE))
        elif chosen.is_for_members:
            self.stdout.write("Only members read this site: DIR holds what all members see.")
