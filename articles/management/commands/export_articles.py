"""`manage.py export_articles`: write every article to a file that another site can import."""

import gzip
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from articles.management.progress import add_progress_argument, progress
from articles.management.store_command import StoreCommand
from articles.transfer.article_lines import format_line
from articles.wiring import patient_repository

_PROGRESS_EVERY = 500  # articles between two updates of the progress bar

Write = Callable[[bytes], object]


class Command(StoreCommand):
    """The file appears under its name only when it is complete."""

    help = (
        "Write every article to FILE, one JSON object per line, in the format of import_articles. "
        "The file does not contain voters, titles of groups, or the moderation log."
    )
    when_interrupted = "Interrupted: no file was written."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", metavar="FILE", nargs="?", help="compressed if it ends in .gz; default: standard output"
        )
        parser.add_argument("--removed", action="store_true", help="include removed articles, with the reasons")
        add_progress_argument(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        if options["file"] in (None, "-"):
            self._export_to_stdout(options)
            return
        try:
            with _new_file(Path(options["file"])) as write:
                written = _export(write, options)
        except OSError as error:
            raise CommandError(f"{error.filename or options['file']}: {error.strerror}") from error
        self.stdout.write(f"{written:,} articles written to {options['file']}.")

    def _export_to_stdout(self, options: dict[str, Any]) -> None:
        binary = getattr(self.stdout, "buffer", None)

        def as_text(line: bytes) -> None:
            self.stdout.write(line.decode(), ending="")

        try:
            _export(binary.write if binary else as_text, options)
            self.stdout.flush()
        except BrokenPipeError:  # the reader closed the pipe early, as `head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _export(write: Write, options: dict[str, Any]) -> int:
    """Write the articles, and return how many."""
    repository, written = patient_repository(), 0
    with progress(unit="articles", shown=options["progress"], total=repository.imports.count()) as bar:
        for done, article in enumerate(repository.imports.iterate(with_texts=True), start=1):
            if article.removed is None or options["removed"]:
                write(format_line(article))
                written += 1
            if done % _PROGRESS_EVERY == 0:
                bar.reach(done)
    return written


@contextmanager
def _new_file(path: Path) -> Iterator[Write]:
    """Write to a temporary file beside `path`, and rename it at the end. An interrupted file is deleted."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("xb") as raw:
            if path.suffix == ".gz":
                with gzip.GzipFile(filename="", fileobj=raw, mode="wb", compresslevel=6) as packed:
                    yield packed.write
            else:
                yield raw.write
            raw.flush()
            os.fsync(raw.fileno())
        part.replace(path)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()
