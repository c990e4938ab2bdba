"""`manage.py export_articles`: write every article, with its comments, to a file that another site can import."""

import gzip
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from articles.management.base import StoreCommand, progress
from articles.web.wiring import patient_repository
from extras.transfer import lines

_BATCH = 500  # articles between two updates of the progress bar

Write = Callable[[bytes], object]


class Command(StoreCommand):
    """The file appears under its name only when it is complete."""

    help = (
        "Write every article with its comments to FILE, one JSON object per line, as import_articles reads it. "
        "The file does not contain voters, flags, titles of groups, or the moderation log."
    )
    when_interrupted = "Interrupted: no file was written."
    shows_progress = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", metavar="FILE", nargs="?", help="compressed if it ends in .gz; default: standard output"
        )
        parser.add_argument(
            "--removed", action="store_true", help="include removed articles, and texts of removed comments"
        )
        super().add_arguments(parser)

    def handle(self, *_: Any, **options: Any) -> None:
        if options["file"] in (None, "-"):
            self._export_to_stdout(options)
            return
        try:
            with _new_file(Path(options["file"])) as write:
                articles, comments = _export(write, options)
        except OSError as error:
            raise CommandError(f"{error.filename or options['file']}: {error.strerror}") from error
        self.stdout.write(f"{articles:,} articles and {comments:,} comments written to {options['file']}.")

    def _export_to_stdout(self, options: dict[str, Any]) -> None:
        binary = getattr(self.stdout, "buffer", None)

        def as_text(line: bytes) -> None:
            self.stdout.write(line.decode(), ending="")

        try:
            _export(binary.write if binary else as_text, options)
            self.stdout.flush()
        except BrokenPipeError:  # the reader closed the pipe early, as `head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _export(write: Write, options: dict[str, Any]) -> tuple[int, int]:
    """Write the articles, each with its comments below, and return how many of both."""
    imports, done, articles, comments = patient_repository().imports, 0, 0, 0
    found = imports.iterate(with_texts=True)
    with progress(unit="articles", shown=options["progress"], total=imports.count()) as bar:
        while batch := list(islice(found, _BATCH)):
            numbers = imports.get_comment_numbers([article.id for article in batch])
            for article in batch:
                if article.removed is None or options["removed"]:
                    write(lines.format_line(article, numbers.get(article.id, 0)))
                    articles += 1
                    for comment in imports.iterate_comments(article.id) if article.id in numbers else ():
                        write(lines.format_comment(comment, with_removed=options["removed"]))
                        comments += 1
            done += len(batch)
            bar.reach(done)
    return articles, comments


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
