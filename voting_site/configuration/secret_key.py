"""The site's secret key: created once and stored in the data directory."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from django.core.management.utils import get_random_secret_key

from voting_site.configuration.kinds import BadSetting, secret

NAME = "secret_key"
"""Name of the file in the data directory."""

_creates = True
"""Whether this process creates a missing key."""


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
        if not (data_dir / NAME).exists():
            if not _creates:
                return get_random_secret_key()
            _create_key(data_dir)
        return _read_key(data_dir / NAME)


def check_key(data_dir: Path) -> None:
    """Raise BadSetting if the file exists but has no strong key. Never creates one."""
    with _as_bad_setting(data_dir):
        if (data_dir / NAME).exists():
            _read_key(data_dir / NAME)


def is_in_file(data_dir: Path, key: str) -> bool:
    """Return whether the key is the one in `data_dir/secret_key`, and not one from the environment."""
    try:
        return (data_dir / NAME).read_text(encoding="ascii") == key
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
    handle, draft = tempfile.mkstemp(dir=data_dir, prefix=f".{NAME}-")
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(get_random_secret_key())
            file.flush()
            os.fsync(handle)
        with contextlib.suppress(FileExistsError):
            os.link(draft, data_dir / NAME)
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
