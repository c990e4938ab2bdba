"""`manage.py export_site`: write the site for a successor, in a documented format."""

import resource
import time
from datetime import date
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.db import Error as DatabaseError

from articles.configuration.choices import chosen
from articles.management.base import StoreCommand, progress, require_accounts
from articles.management.sentences import about_accounts
from articles.repository import Repository
from articles.web.wiring import patient_repository
from extras.moving_in.exporting import Export, new_folder
from extras.moving_in.static_copy import CannotCopy, write_static

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
        kind = parser.add_mutually_exclusive_group()
        kind.add_argument(
            "--private", action="store_true", help="for a trusted successor: password hashes as well"
        )
        kind.add_argument(
            "--static", action="store_true", help="pages that need no server, for a site that closes"
        )
        of_pages = parser.add_argument_group("with --static")
        of_pages.add_argument("--closed", metavar="DATE", type=date.fromisoformat, help="default: today")
        codes = [code for code, _name in settings.LANGUAGES]
        of_pages.add_argument("--language", metavar="CODE", choices=codes, default="", help=", ".join(codes))
        of_pages.add_argument("--for-everyone", action="store_true", help="although only members read the site")
        super().add_arguments(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        require_accounts()
        folder, is_private, began = Path(options["folder"]), options["private"], time.monotonic()
        try:
            with new_folder(folder, is_private=is_private or chosen.is_for_members) as part:
                repository = patient_repository()
                with progress(unit="articles", shown=options["progress"], total=repository.imports.count()) as bar:
                    if options["static"]:
                        rows = {"files": self._write_pages(part, repository, options, bar.reach)}
                    else:
                        rows = Export(repository, part, bar.reach, is_private=is_private).write()
        except (CannotCopy, FileExistsError) as error:
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

    def _write_pages(self, folder: Path, repository: Repository, options: dict[str, Any], reach: Any) -> int:
        if chosen.is_for_members and not options["for_everyone"]:
            raise CannotCopy("Only members read this site. With --for-everyone, all who get the pages do.")
        return write_static(folder, repository, options["closed"] or date.today(), options["language"], reach)
