"""Where the web server's workers count: in shared memory, where a full data disk cannot end them."""

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings

from articles.operation import metric_files

SHARED_MEMORY = Path("/dev/shm")  # nosec B108 # noqa: S108 - the folder in it is private


@contextmanager
def metrics_folder(data_dir: Path, address: str, workers: int) -> Iterator[Path]:
    """Yield a private folder with no counts, and delete it at the end. Raises OSError if there is no room.

    It is in shared memory if that has room, else in the data directory. One for each address: sites may share a
    data directory. What a killed site left behind is deleted.
    """
    places = in_memory, on_disk = _places(data_dir, address)
    for left_behind in places:
        shutil.rmtree(left_behind, ignore_errors=True)
    processes = 2 * (2 + workers)  # with the housekeeper; twice as many while they are replaced
    room = len(metric_files.KINDS) * processes * metric_files.RESERVED_BYTES
    folder = in_memory if _has_room(SHARED_MEMORY, room) and _is_private(in_memory) else on_disk
    try:
        folder.mkdir(parents=True, exist_ok=True)
        metric_files.begin(folder, processes)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def find() -> Path | None:
    """Return the folder in which the web server with this configuration counts; None if none runs here."""
    address = f"{settings.HOST}:{settings.PORT}"
    places = _places(Path(settings.DATA_DIR), address)
    return next((folder for folder in places if metric_files.began_at(folder) is not None), None)


def _places(data_dir: Path, address: str) -> tuple[Path, Path]:
    """Return the folder in shared memory, and the one to use if that has no room."""
    site = f"{data_dir}\0{address}"
    name = f"voting-site-{os.getuid()}-{hashlib.sha256(site.encode()).hexdigest()[:16]}"
    return SHARED_MEMORY / name, data_dir / "metrics" / address.replace(":", "-")


def _has_room(place: Path, room: int) -> bool:
    try:
        facts = os.statvfs(place)
    except OSError:
        return False
    return os.access(place, os.W_OK) and facts.f_bavail * facts.f_frsize >= room


def _is_private(folder: Path) -> bool:
    """Create the folder for this user alone. Return False if there is something else by its name."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        facts = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid() and stat.S_IMODE(facts.st_mode) == 0o700
