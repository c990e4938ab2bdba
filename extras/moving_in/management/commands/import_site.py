"""`manage.py import_site`: let another site move in, with its members, its history and its addresses."""

import hashlib
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.core.validators import validate_slug
from django.db import Error as DatabaseError

from articles.management.base import CTRL_C, StoreCommand, progress, require_accounts, stopped_by_signals
from articles.management.sentences import IMPORT_RUNNING, about_accounts
from articles.repository import ImportRunning
from articles.web.wiring import patient_repository
from extras.moving_in.importing import Interrupted, MovingIn, Report
from extras.moving_in.models import Kind, Source
from extras.moving_in.sources import FORMATS, BadSource, format_of
from extras.moving_in.staging import Staging, drop, staged
from extras.moving_in.undoing import Undoing

_HELP = """\
Let another site move in: its members, groups, articles, comments and votes, so that its old addresses lead here.
The import can be interrupted and repeated safely: nothing comes twice, and what is new at the source is added."""

_ROWS_PER_MINUTE, _STORE_BYTES_PER_ROW = 60_000, 1_300


class Command(StoreCommand):
    """Rows are staged in the data directory, which is kept until all of them came. Exit status 1 if none did."""

    help = _HELP
    when_interrupted = "Interrupted. Run it again to continue; nothing comes twice."
    shows_progress = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("format", metavar="FORMAT", choices=FORMATS, help=", ".join(FORMATS))
        parser.add_argument(
            "source", metavar="SOURCE", nargs="?", default="", help="a file, a folder or an address"
        )
        parser.add_argument("--name", default="", help="what the source is called here, such as old-site")
        parser.add_argument(
            "--host", default="", help="where it was, such as old.example: its addresses lead here"
        )
        for name in FORMATS:
            format_of(name).arguments(parser)
        parser.add_argument("--dry-run", action="store_true", help="say what would happen, and change nothing")
        parser.add_argument(
            "--undo", action="store_true", help="remove what came, unless members or moderators have reacted to it"
        )
        super().add_arguments(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        require_accounts()
        try:
            if said := format_of(options["format"]).instead(options["source"], options):
                return self.stdout.write(said)
            validate_slug(options["name"])
            known = Source.objects.filter(name=options["name"]).first()
            if known and known.format != options["format"]:
                raise CommandError(f"{known.name} is a source of the format {known.format}.")
            if options["undo"]:
                return self._undo(known, options)
            if known and known.undo_begun_at:
                raise CommandError("Its undo was interrupted. Finish it first, with --undo.")
            self._import(known or Source(name=options["name"], format=options["format"]), options)
        except BadSource as error:
            raise CommandError(str(error)) from None
        except ValidationError:
            raise CommandError("--name takes letters, digits, - and _.") from None
        except ImportRunning:
            raise CommandError(IMPORT_RUNNING) from None
        except Interrupted:
            raise CommandError(self.when_interrupted, returncode=CTRL_C) from None
        except OSError as error:
            raise CommandError(f"{error.filename or options['source']}: {error.strerror}") from error
        except DatabaseError as error:
            raise CommandError(f"{about_accounts(error)} Run it again to continue.") from error

    def _undo(self, source: Source | None, options: dict[str, Any]) -> None:
        if source is None:
            raise CommandError(f"There is no source {options['name']}.")
        rows = source.arrivals.filter(kind=Kind.ARTICLE).count() + source.accounts.count()
        with (
            stopped_by_signals() as stopping,
            progress(unit="articles and accounts", shown=options["progress"], total=rows) as bar,
        ):
            given = patient_repository(), source, bar.reach, stopping.is_set, options["dry_run"]
            (undoing := Undoing(*given)).run()
        self.stdout.writelines(f"{line}\n" for line in undoing.lines())
        if not options["dry_run"]:
            self.fit_weight(shown=options["progress"])

    def _import(self, source: Source, options: dict[str, Any]) -> None:
        path = Path(settings.DATA_DIR, "moving_in", f"{source.name}.sqlite3")
        path.parent.mkdir(mode=0o700, exist_ok=True)
        source.host, report, began = options["host"] or source.host, Report(), time.monotonic()
        is_dry, shown = options["dry_run"], options["progress"]
        with stopped_by_signals() as stopping, self._staged(path, source, options, stopping.is_set) as staging:
            for row in staging.rows("bad"):
                report.note("row", row["reason"], row["place"])
            if not is_dry:
                source.completed_at = None
                source.save()
            rows = staging.rows_to_enter()
            with progress(unit="rows", shown=shown, total=rows) as bar:
                given = patient_repository(), source, staging, report, bar.reach, stopping.is_set
                try:
                    MovingIn(*given, is_dry=is_dry).run()
                finally:
                    bar.close()
                    self.stdout.writelines(f"{line}\n" for line in report.lines())
        if is_dry:
            minutes, megabytes = rows / _ROWS_PER_MINUTE, rows * _STORE_BYTES_PER_ROW / 1_000_000
            self.stdout.write(
                f"About {minutes:,.0f} minutes for {rows:,} rows, and {megabytes:,.0f} MB of the store's memory."
            )
            return
        seconds, peak = time.monotonic() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        self.stdout.write(f"{rows:,} rows in {seconds:,.0f} s; at most {peak:,} MB of memory.")
        drop(path)
        if not report.come.total() + report.present.total():
            raise CommandError("Nothing could be imported.")
        self.fit_weight(shown=shown)

    @contextmanager
    def _staged(
        self, path: Path, source: Source, options: dict[str, Any], is_stopped: Callable[[], bool]
    ) -> Iterator[Staging]:
        """Open the staging file, filled from the source, which is read again only if it changed."""
        if not options["source"]:
            raise CommandError("Which SOURCE? A file, a folder or an address.")
        mark = _mark(options["source"], options.get("mapping") or "", str(options.get("flairs")), options["host"])
        with staged(path, mark) as staging, progress(unit="rows", shown=options["progress"]) as bar:

            def reach(rows: int) -> None:
                bar.update(rows)
                if is_stopped():
                    raise Interrupted

            if not staging.is_whole:
                format_of(source.format).fill(options["source"], staging, options, reach)
                staging.finish()
            bar.close()
            yield staging


def _mark(source: str, mapping: str, *more: str) -> str:
    """Return a digest of a source: of names, sizes and times of its files or of its address, and of options."""
    path, facts = Path(source), [source, *more]
    if not urlsplit(source).netloc:
        for file in sorted([path, *path.rglob("*")] if path.is_dir() else [path]):
            facts.append(f"{file} {file.stat().st_size} {file.stat().st_mtime_ns}")
    if mapping:
        facts.append(Path(mapping).read_text("utf-8"))
    return hashlib.blake2b("\n".join(facts).encode(), digest_size=16).hexdigest()
