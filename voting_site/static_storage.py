"""How static files are kept for serving: style sheets joined, all named by their content and compressed."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from django.core.files.base import ContentFile
from django.core.files.storage import Storage
from whitenoise.storage import CompressedManifestStaticFilesStorage

Sources = Mapping[str, tuple[Storage, str]]
"""What is gathered: each file's name, and where its content is found."""

_IMPORT = re.compile(r'^@import "(?P<name>[\w.-]+)";\n', re.MULTILINE)


class JoinedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Puts what a style sheet imports in the place of the import, so that a page asks for one file.

    Only lines of the form `@import "name.css";`, of files in the same folder, that import nothing themselves.
    """

    def post_process(self, paths: Sources, dry_run: bool = False, **options: Any) -> Iterator[Any]:
        gathered = dict(paths)
        for name in [] if dry_run else [name for name in paths if name.endswith(".css")]:
            text = _text(paths[name])
            if _IMPORT.search(text):
                self.delete(name)
                self.save(name, ContentFile(_joined(text, PurePosixPath(name).parent, paths).encode()))
                gathered[name] = (self, name)
        yield from super().post_process(gathered, dry_run, **options)


def _joined(text: str, folder: PurePosixPath, paths: Sources) -> str:
    return _IMPORT.sub(lambda found: _text(paths[str(folder / found["name"])]), text)


def _text(source: tuple[Storage, str]) -> str:
    storage, name = source
    with storage.open(name) as file:
        content: bytes = file.read()
    return content.decode()
