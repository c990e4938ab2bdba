"""The static files, gathered, named by their content and compressed; made anew only when they changed."""

import shutil
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command

from voting_site.serving import static_storage
from voting_site.serving.web_server import CannotServe

_STAMP = ".source"
"""Names the state of the sources, and marks the directory as the site's own: only such a one is ever cleared."""

_PREPARED_BY = ("django", "rjsmin", "whitenoise")


def gather() -> bool:
    """Fill STATIC_ROOT if it is not what the sources are; return whether there was anything to do.

    An interrupted run starts again the next time: the state is written last. Raises CannotServe for a directory
    with files that the site did not make.
    """
    root, state = Path(settings.STATIC_ROOT), _state_of_sources()
    stamp = root / _STAMP
    if stamp.is_file() and stamp.read_bytes() == state.encode():
        return False
    if not stamp.is_file() and root.is_dir() and any(root.iterdir()):
        raise CannotServe(f"{root} has files that the site did not make: move it, or choose another DATA_DIR.")
    root.mkdir(parents=True, exist_ok=True)
    stamp.write_bytes(b"")
    _clear(root)
    call_command("collectstatic", interactive=False, verbosity=0)
    stamp.write_bytes(state.encode())
    return True


def _clear(root: Path) -> None:
    """Delete everything but the stamp, and nothing that a link leads to."""
    for path in root.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path.name != _STAMP:
            path.unlink()


def _state_of_sources() -> str:
    """A digest of every file's name, size and time of change, and of what prepares them."""
    digest = sha256(Path(static_storage.__file__).read_bytes())
    digest.update("\0".join(map(version, _PREPARED_BY)).encode())
    for finder in get_finders():
        for name, storage in finder.list([]):
            facts = Path(storage.path(name)).stat()
            digest.update(f"{name}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()
