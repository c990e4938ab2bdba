"""`manage.py backup`: copy the whole site into a folder, while it is in use."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from articles.backup import files, making
from articles.management.base import StoreCommand, positive, progress
from articles.web.wiring import patient_repository


class Command(StoreCommand):
    """Safe while the site is in use, and safe to interrupt: an incomplete backup is deleted."""

    help = (
        "Make a backup of the whole site in a new folder inside of DIR: articles, votes, views, groups, log, "
        "saved articles, accounts and the secret key. Members go on voting meanwhile."
    )
    when_interrupted = "Interrupted: no backup was made."
    shows_progress = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("dir", metavar="DIR", type=Path)
        parser.add_argument(
            "--keep", metavar="N", type=positive, default=0, help="keep the newest N backups of this site in DIR"
        )
        super().add_arguments(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            with progress(unit="articles", shown=options["progress"]) as bar:
                made = making.make(
                    patient_repository(), options["dir"].absolute(), keep=options["keep"], progress=bar.reach
                )
        except files.BackupError as error:
            raise CommandError(str(error)) from error
        manifest = files.read_manifest(made)
        size = sum(file.bytes for file in manifest.files.values())
        self.stdout.write(
            f"{manifest.counts['articles']:,} articles and {manifest.counts.get('accounts.User', 0):,} accounts, "
            f"{size / 1e6:,.1f} MB, in {made}"
        )
        if foreign := manifest.counts["foreign"]:
            self.stderr.write(f"{foreign:,} keys of the store are not the site's and not in the backup.")
        if manifest.unreadable:
            self.stderr.write(f"Not in the backup, because they are damaged: {', '.join(manifest.unreadable)}")
            sys.exit(1)
