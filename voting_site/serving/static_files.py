"""Static files: collected if their sources have changed, minified, named by content, and compressed."""

import re
import shutil
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.files.base import ContentFile
from django.core.files.storage import Storage
from django.core.management import call_command
from rjsmin import jsmin
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

from voting_site.serving.listener import CannotServe

Sources = Mapping[str, tuple[Storage, str]]  # collected files: for each name, its storage and its name there

_IMPORT = re.compile(r'^@import "(?P<name>[\w./-]+)";\n', re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/\n*", re.DOTALL)
_SPACES = re.compile(r"\s*([{};])\s*")


class PreparedStaticFilesStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Optimise files for loading; the sources stay readable.

    Replaces imports in style sheets by the imported file, so that a page loads one file: only lines of the form
    `@import "name.css";`, for files in or below the same folder, which must not import others. Removes comments
    and spaces from the site's own scripts, in js/, and style sheets, in css/, whose strings have neither comments
    nor braces nor semicolons.
    """

    def post_process(self, paths: Sources, dry_run: bool = False, **options: Any) -> Iterator[Any]:
        gathered = dict(paths)
        for name in [] if dry_run else paths:
            if (text := _prepared(name, paths)) is not None:
                self.delete(name)
                self.save(name, ContentFile(text.encode()))
                gathered[name] = (self, name)
        yield from super().post_process(gathered, dry_run, **options)

    def create_compressor(self, **options: Any) -> Compressor:
        return _Compressor(**options)


class _Compressor(Compressor):  # type: ignore[misc]
    """Compress the files of Django's admin site by gzip alone: few load them, and brotli takes seconds."""

    def compress(self, path: str) -> list[str]:
        compressor: Any = Compressor(use_brotli=False, quiet=True) if "admin" in Path(path).parts else super()
        return list(compressor.compress(path))


def _prepared(name: str, paths: Sources) -> str | None:
    """Return the text to serve instead of the file's; None to serve the file unchanged."""
    path = PurePosixPath(name)
    if path.suffix == ".css" and path.parts[0] == "css":
        joined = _IMPORT.sub(lambda match: _text(paths[str(path.parent / match["name"])]), _text(paths[name]))
        return _SPACES.sub(r"\1", _COMMENT.sub("", joined))
    if path.suffix == ".js" and str(path.parent) == "js":
        return str(jsmin(_text(paths[name])))
    return None


def _text(source: tuple[Storage, str]) -> str:
    storage, name = source
    with storage.open(name) as file:
        content: bytes = file.read()
    return content.decode()


_STAMP = ".source"
"""File with the digest of the sources. Marks the directory as created by the site; only such a one is cleared."""

_PREPARED_BY = ("django", "rjsmin", "whitenoise")


def gather() -> bool:
    """Fill STATIC_ROOT if its sources have changed. Return whether they have.

    An interrupted run is repeated at the next start, because the digest is written last. Raises CannotServe for a
    directory with files that the site did not create.
    """
    root, state = Path(settings.STATIC_ROOT), _state_of_sources()
    stamp = root / _STAMP
    if stamp.is_file() and stamp.read_bytes() == state.encode():
        return False
    check()
    root.mkdir(parents=True, exist_ok=True)
    stamp.write_bytes(b"")
    _clear(root)
    call_command("collectstatic", interactive=False, verbosity=0)
    stamp.write_bytes(state.encode())
    return True


def check() -> None:
    """Raise CannotServe if STATIC_ROOT has files that the site did not create."""
    root = Path(settings.STATIC_ROOT)
    if not (root / _STAMP).is_file() and root.is_dir() and any(root.iterdir()):
        raise CannotServe(f"{root} has files that the site did not create: move it, or choose another DATA_DIR.")


def _clear(root: Path) -> None:
    """Delete everything except the stamp, without following links."""
    for path in root.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != _STAMP:
            path.unlink()


def _state_of_sources() -> str:
    """Return a digest of every file's name, size and modification time, and of the code that prepares them."""
    digest = sha256(Path(__file__).read_bytes())
    digest.update("\0".join(map(version, _PREPARED_BY)).encode())
    for finder in get_finders():
        for name, storage in finder.list([]):
            facts = Path(storage.path(name)).stat()
            digest.update(f"{name}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()
