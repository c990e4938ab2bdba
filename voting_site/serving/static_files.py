"""Collect the static files, named by content and compressed, if their sources have changed."""

import shutil
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command

from voting_site.serving import static_storage
from voting_site.serving.cannot_serve import CannotServe

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
    digest = sha256(Path(static_storage.__file__).read_bytes())
    digest.update("\0".join(map(version, _PREPARED_BY)).encode())
    for finder in get_finders():
        for name, storage in finder.list([]):
            facts = Path(storage.path(name)).stat()
            digest.update(f"{name}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()
