"""The site's secret key: made once, kept in the data directory."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from django.core.management.utils import get_random_secret_key

from voting_site.configuration.kinds import BadSetting

_NAME = "secret_key"


def secret_key(data_dir: Path) -> str:
    """The key in `data_dir/secret_key`, made there (mode 0600) if there is none.

    Two processes starting at once agree on one key: the file appears whole or not at all, and only once.
    Raises BadSetting where nothing can be kept, and for a file that holds no key.
    """
    with _as_bad_setting(data_dir):
        if not (data_dir / _NAME).exists():
            _make_key(data_dir)
        return _kept_key(data_dir / _NAME)


def check_key(data_dir: Path) -> None:
    """Raise BadSetting if there is a file that holds no key. Makes none."""
    with _as_bad_setting(data_dir):
        if (data_dir / _NAME).exists():
            _kept_key(data_dir / _NAME)


@contextlib.contextmanager
def _as_bad_setting(data_dir: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadSetting(f"DATA_DIR={str(data_dir)!r} cannot be used: {error.strerror}.") from error


def _make_key(data_dir: Path) -> None:
    data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, draft = tempfile.mkstemp(dir=data_dir, prefix=f".{_NAME}-")
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(get_random_secret_key())
            file.flush()
            os.fsync(handle)
        with contextlib.suppress(FileExistsError):
            os.link(draft, data_dir / _NAME)
    finally:
        Path(draft).unlink()


def _kept_key(path: Path) -> str:
    try:
        key = path.read_text(encoding="ascii")
    except (UnicodeDecodeError, IsADirectoryError):
        key = ""
    if not key.strip():
        raise BadSetting(
            f"{path} holds no secret key: put it back from a backup, or remove it, which logs every member out."
        )
    return key
