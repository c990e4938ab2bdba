"""The folder of backups: one folder for each, named by the time at which it was begun, in UTC."""

import fcntl
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings

from articles.backup.files import MANIFEST, BackupDamaged, BackupRunning, read_manifest
from articles.configuration.choices import chosen

IN_DATA = "backups"  # the folder in the data directory that administrators can choose in the browser
_NAME = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ(?:-\d+)?")
_STAMP = "%Y-%m-%dT%H-%M-%S"
_LOCK = ".lock"
_PARTIAL = ".partial-"  # beginning of the name of a backup that is not complete


def chosen_folder() -> Path | None:
    """Return the folder in which housekeeping makes backups; None if it makes none."""
    return Path(settings.DATA_DIR, chosen.BACKUP_DIR) if chosen.BACKUP_DIR else None


def size_of(backup: Path) -> int:
    return sum(file.stat().st_size for file in backup.iterdir())


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let one process at a time make a backup in a folder, which is created if necessary. Raises BackupRunning."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / _LOCK).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupRunning(f"Another backup is being made in {folder}.") from None
        yield


@contextmanager
def new_folder(folder: Path, began: datetime) -> Iterator[Path]:
    """Yield a folder for one backup, named when it is complete; leave nothing if the block fails."""
    for stale in folder.glob(f"{_PARTIAL}*"):
        shutil.rmtree(stale, ignore_errors=True)
    name = began.astimezone(UTC).strftime(f"{_STAMP}Z")
    partial = folder / f"{_PARTIAL}{name}"
    partial.mkdir(mode=0o700)
    try:
        yield partial
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def complete(partial: Path) -> Path:
    """Give a complete backup its name; return its path."""
    name = partial.name.removeprefix(_PARTIAL)
    final, number = partial.with_name(name), 1
    while final.exists():
        final, number = partial.with_name(f"{name}-{number}"), number + 1
    return partial.rename(final)


def list_backups(folder: Path) -> list[Path]:
    """Return the complete backups in a folder, oldest first."""
    if not folder.is_dir():
        return []
    named = (entry for entry in folder.iterdir() if _NAME.fullmatch(entry.name))
    return sorted((entry for entry in named if (entry / MANIFEST).is_file()), key=_order)


def _order(backup: Path) -> tuple[str, int]:
    stamp, _z, number = backup.name.partition("Z")
    return stamp, int(number.lstrip("-") or 0)


def newest_in(folder: Path) -> Path | None:
    """Return the folder itself if it is a backup, else the newest one in it; None without any."""
    if (folder / MANIFEST).is_file():
        return folder
    backups = list_backups(folder)
    return backups[-1] if backups else None


def prune(folder: Path, keep: int, site: str) -> list[Path]:
    """Delete all but the newest `keep` backups of this site; return those deleted. Others' are left alone."""
    own = []
    for backup in list_backups(folder):
        try:
            own += [backup] if read_manifest(backup).site == site else []
        except BackupDamaged:
            continue  # for the operator to look at
    surplus = own[: max(0, len(own) - keep)]
    for backup in surplus:
        shutil.rmtree(backup)
    return surplus


def age_of_newest(folder: Path) -> float | None:
    """Return the seconds since the newest backup in a folder was begun, by its name; None without any."""
    backups = list_backups(folder)
    if not backups:
        return None
    begun_at = datetime.strptime(_order(backups[-1])[0], _STAMP).replace(tzinfo=UTC)
    return (datetime.now(UTC) - begun_at).total_seconds()


BACKUP_SECONDS = 86400  # time between two backups


def is_due(folder: Path) -> bool:
    age = age_of_newest(folder)
    return age is None or not -BACKUP_SECONDS < age < BACKUP_SECONDS  # one in the future: its clock was wrong
