"""The static files, gathered, named by their content and compressed; made anew only when they changed."""

from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command

from voting_site import static_storage

_STAMP = ".source"
_PREPARED_BY = ("django", "rjsmin", "whitenoise")


def gather() -> bool:
    """Fill STATIC_ROOT if it is not what the sources are; returns whether there was anything to do.

    Broken off in between it starts again the next time: the stamp is written last.
    """
    stamp, state = Path(settings.STATIC_ROOT) / _STAMP, _state_of_sources()
    if stamp.is_file() and stamp.read_text("ascii") == state:
        return False
    stamp.unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, verbosity=0, clear=True)
    stamp.write_text(state, "ascii")
    return True


def _state_of_sources() -> str:
    """A digest of every file's name, size and time of change, and of what prepares them."""
    digest = sha256(Path(static_storage.__file__).read_bytes())
    digest.update("\0".join(map(version, _PREPARED_BY)).encode())
    for finder in get_finders():
        for name, storage in finder.list([]):
            facts = Path(storage.path(name)).stat()
            digest.update(f"{name}\0{facts.st_size}\0{facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()
