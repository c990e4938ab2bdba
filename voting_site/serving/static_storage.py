"""How static files are kept for serving: sheets joined, scripts minified, all named by content and compressed."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import Storage
from rjsmin import jsmin
from whitenoise.storage import CompressedManifestStaticFilesStorage

Sources = Mapping[str, tuple[Storage, str]]
"""What is gathered: each file's name, and where its content is found."""

_IMPORT = re.compile(r'^@import "(?P<name>[\w./-]+)";\n', re.MULTILINE)


class PreparedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Serves what pages load quickest; the sources stay as people read them.

    Puts what a style sheet imports in the place of the import, so that a page asks for one file: only lines of the
    form `@import "name.css";`, of files below the same folder, that import nothing themselves. Leaves comments and
    spaces out of the site's own scripts, which are those in js/.
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
    """What is served instead of the file; None if that is the file itself."""
    path = PurePosixPath(name)
    if path.suffix == ".css" and _IMPORT.search(text := _text(paths[name])):
        return _joined(text, path.parent, paths)
    if path.suffix == ".js" and str(path.parent) == "js":
        return str(jsmin(_text(paths[name])))
    return None


def _joined(text: str, folder: PurePosixPath, paths: Sources) -> str:
    return _IMPORT.sub(lambda found: _text(paths[str(folder / found["name"])]), text)


def _text(source: tuple[Storage, str]) -> str:
    storage, name = source
    with storage.open(name) as file:
        content: bytes = file.read()
    return content.decode()
