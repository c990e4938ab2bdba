"""The directories of data and of backups, which must not overlap with the program's files, and the secret key.

The site's secret key is created once and stored in the data directory.
"""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from django.core.management.utils import get_random_secret_key

from articles.configuration.kinds import BadSetting
from voting_site.configuration.kinds import secret

PROGRAM_FOLDERS = (
    "accounts", "articles", "bench", "deploy", "docs", "extras", "locale", "moderation",
    "outgoing", "static", "tasks", "templates", "tests", "voting_site",
)  # fmt: skip
"""Folders of the checkout, in addition to hidden ones such as .git."""

_OWN_FOLDERS = ("static", "store", "kept_pages", "metrics", "search")
"""Folders of the data directory that the site clears or serves."""


def placed(base_dir: Path, text: str, name: str = "DATA_DIR") -> Path:
    """Return the directory of a setting as an absolute path without links; a relative one starts at `base_dir`.

    Raises BadSetting for a path that is, contains or is inside a folder of the program: the site creates a folder
    static/ in the data directory and sometimes clears it.
    """
    try:
        path, checkout = (base_dir / Path(text).expanduser()).resolve(), base_dir.resolve()
        if path.exists() and not path.is_dir():
            raise BadSetting(f"{name}={text!r} cannot be used: it is not a directory.")
        overlaps = _is_among(path, [checkout, *checkout.parents]) or _is_in_program(path, checkout)
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, the home of an unknown user
        reason = getattr(error, "strerror", None) or error
        raise BadSetting(f"{name}={text!r} cannot be used: {reason}.") from None
    if overlaps:
        raise BadSetting(
            f"{name}={text!r} cannot be used: {path} is, contains or is inside a folder of the program; "
            "choose a separate directory, such as var or /var/lib/voting-site."
        )
    return path


def for_backups(base_dir: Path, text: str, data_dir: Path) -> Path:
    """Return the directory of backups like `placed`. Raises BadSetting, also for public data."""
    path = placed(base_dir, text, "BACKUP_DIR")
    if path == data_dir or any(path.is_relative_to(data_dir / name) for name in _OWN_FOLDERS):
        raise BadSetting(
            f"BACKUP_DIR={text!r} cannot be used: the site keeps other files there; "
            "choose a separate directory, such as /var/backups/voting-site."
        )
    return path


def _is_in_program(path: Path, checkout: Path) -> bool:
    folders = [checkout / name for name in PROGRAM_FOLDERS]
    if any(_is_among(folder, folders) for folder in (path, *path.parents)):
        return True
    return path.is_relative_to(checkout) and path.relative_to(checkout).parts[0].startswith(".")


def _is_among(path: Path, folders: list[Path]) -> bool:
    """Return whether the path is one of the folders, even by another name in the file system."""
    existing = [folder for folder in folders if path.exists() and folder.exists()]
    return path in folders or any(path.samefile(folder) for folder in existing)


KEY_FILE = "secret_key"  # name of the file in the data directory

_creates = True  # whether this process creates a missing key


def never_create() -> None:
    """Let this process use a key of its own where none exists: it must not change the data directory."""
    global _creates  # noqa: PLW0603 - it is about the whole process
    _creates = False


def secret_key(data_dir: Path) -> str:
    """Return the key in `data_dir/secret_key`; create the file (mode 0600) if it does not exist.

    Processes that start at the same time get the same key: the file is created atomically, and only once.
    Raises BadSetting if the directory is not writable, and for a file without a key.
    """
    with _as_bad_setting(data_dir):
        if not (data_dir / KEY_FILE).exists():
            if not _creates:
                return get_random_secret_key()
            _create_key(data_dir)
        return _read_key(data_dir / KEY_FILE)


def check_key(data_dir: Path) -> None:
    """Raise BadSetting if the file exists but has no strong key. Never creates one."""
    with _as_bad_setting(data_dir):
        if (data_dir / KEY_FILE).exists():
            _read_key(data_dir / KEY_FILE)


def is_in_file(data_dir: Path, key: str) -> bool:
    """Return whether the key is the one in `data_dir/secret_key`, and not one from the environment."""
    try:
        return (data_dir / KEY_FILE).read_text(encoding="ascii") == key
    except (OSError, UnicodeDecodeError):
        return False


@contextlib.contextmanager
def _as_bad_setting(data_dir: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadSetting(f"DATA_DIR={str(data_dir)!r} cannot be used: {error.strerror}.") from error


def _create_key(data_dir: Path) -> None:
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, draft = tempfile.mkstemp(dir=data_dir, prefix=f".{KEY_FILE}-")
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(get_random_secret_key())
            file.flush()
            os.fsync(handle)
        with contextlib.suppress(FileExistsError):
            os.link(draft, data_dir / KEY_FILE)
    finally:
        Path(draft).unlink()


def _read_key(path: Path) -> str:
    try:
        return secret(path.read_text(encoding="ascii"))
    except (ValueError, IsADirectoryError):  # not ASCII, or weak
        raise BadSetting(
            f"{path} has no secret key of 32 characters or more: restore it from a backup, or delete it, which "
            "logs out every member."
        ) from None
