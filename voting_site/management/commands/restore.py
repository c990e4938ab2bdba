"""`manage.py restore`: start an empty site from a backup."""

import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from articles.backup import files, folders, restoring
from articles.management.base import StoreCommand, progress
from articles.web.wiring import unprepared_repository
from voting_site.sqlite.base import creating


class Command(StoreCommand):
    """Changes nothing unless the backup is whole and the site is empty. Safe to interrupt and repeat."""

    help = (
        "Restore a backup into an empty site: DIR is a backup, or a folder of backups, of which the newest is "
        "taken. All lists are rebuilt and checked."
    )
    when_interrupted = "Interrupted. Run it again to finish; until then the site does not start."
    shows_progress = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dir", metavar="DIR", type=Path)
        parser.add_argument(
            "--check", action="store_true", help="only check whether the backup is whole and can be restored"
        )
        super().add_arguments(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        folder = folders.newest_in(options["dir"].absolute())
        if folder is None:
            raise CommandError(f"{options['dir']} is not a backup and contains none.")
        with progress(unit="", shown=options["progress"]) as bar:
            try:
                if options["check"]:
                    manifest = restoring.check(folder, bar.reach)
                else:
                    with creating():
                        restored = restoring.restore(unprepared_repository(), folder, bar.reach_in)
            except files.BackupError as error:
                raise CommandError(str(error)) from error
        if options["check"]:
            self.stdout.write(f"{folder}, made at {manifest.made_at}, is whole and can be restored.")
            return
        self._report(restored)

    def _report(self, restored: restoring.Restored) -> None:
        manifest = restored.manifest
        self.stdout.write(
            f"{manifest.counts['articles']:,} articles and {restored.accounts:,} accounts restored, as of "
            f"{manifest.made_at}. Members have to log in again."
        )
        for extra, rows in restored.left_out.items():
            self.stdout.write(f"{rows:,} rows of the extra {extra} were left out: it is not installed here.")
        if not restored.has_secret_key:
            self.stdout.write("The backup has no secret key, because SECRET_KEY was set: set it here, too.")
        elif not settings.SECRET_KEY_IS_IN_FILE:
            self.stdout.write("SECRET_KEY is set here, so that the key of the backup is not used.")
        for finding in restored.findings:
            self.stdout.write(finding)
        if restored.findings:
            self.stdout.write(f"{len(restored.findings):,} findings.")
            sys.exit(1)
        self.stdout.write("The audit found nothing.")
