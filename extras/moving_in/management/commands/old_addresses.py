"""`manage.py old_addresses`: write where old addresses lead, for a web server in front of the site."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from extras.moving_in.addresses import nginx_map
from extras.moving_in.models import Source


class Command(BaseCommand):
    help = "Write a map of old addresses to new ones, which nginx answers without the site."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--name", default="", help="of one source; default: all")
        parser.add_argument("--nginx", metavar="FILE", required=True, help="the file to write")

    def handle(self, *_: Any, **options: Any) -> None:
        name, sources = options["name"], Source.objects.order_by("pk")
        if name:
            sources = sources.filter(name=name)
        if not sources:
            raise CommandError(f"No source{f' {name!r}' if name else ''} has moved in.")
        file, count = Path(options["nginx"]), 0
        new = file.with_name(f"{file.name}.new")
        try:
            with new.open("w", encoding="utf-8") as written:
                for count, line in enumerate(nginx_map(sources), 1):  # noqa: B007 - the last is how many
                    written.write(f"{line}\n")
            new.replace(file)
        except OSError as error:
            raise CommandError(f"{error.filename or file}: {error.strerror}") from error
        self.stdout.write(f"{count:,} lines written to {file}.")
