"""Prepare static files for serving: style sheets joined, scripts minified, all named by content and compressed."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import Storage
from rjsmin import jsmin
from whitenoise.storage import CompressedManifestStaticFilesStorage

Sources = Mapping[str, tuple[Storage, str]]
"""Collected files: for each name, its storage and its name there."""

_IMPORT = re.compile(r'^@import "(?P<name>[\w./-]+)";\n', re.MULTILINE)


class PreparedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Optimise files for loading; the sources stay readable.

    Replaces imports in style sheets by the imported file, so that a page loads one file: only lines of the form
    `@import "name.css";`, for files in or below the same folder, which must not import others. Removes comments
    and spaces from the site's own scripts, in js/.
    """

    def post_process(self, paths: Sources, dry_run: bool = False, **options: Any) -> Iterator[Any]:
        gathered = dict(paths)
        for name in [] if dry_run else paths:
            if (text := _prepared(name, paths)) is not None:
                self.delete(name)
                self.save(name, ContentFile(text.encode()))
                gathered[name] = (self, name)
        yield from super().post_process(gathered, dry_run, **options)


def _prepared(name: str, paths: Sources) -> str | None:
    """Return the text to serve instead of the file's; None to serve the file unchanged."""
    path = PurePosixPath(name)
    if path.suffix == ".css" and _IMPORT.search(text := _text(paths[name])):
        return _joined(text, path.parent, paths)
    if path.suffix == ".js" and str(path.parent) == "js":
        return str(jsmin(_text(paths[name])))
    return None


def _joined(text: str, folder: PurePosixPath, paths: Sources) -> str:
    return _IMPORT.sub(lambda match: _text(paths[str(folder / match["name"])]), text)


def _text(source: tuple[Storage, str]) -> str:
    storage, name = source
    with storage.open(name) as file:
        content: bytes = file.read()
    return content.decode()
