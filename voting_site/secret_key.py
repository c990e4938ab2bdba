"""The site's secret key: made once, kept in the data directory."""

import contextlib
import os
import tempfile
from pathlib import Path

from django.core.management.utils import get_random_secret_key

from voting_site.configuration import BadSetting


def secret_key(data_dir: Path) -> str:
    """The key in `data_dir/secret_key`, made there (mode 0600) if there is none.

    Two processes starting at once agree on one key: the file appears whole or not at all, and only once.
    Raises BadSetting where nothing can be kept.
    """
    try:
        return _kept_key(data_dir / "secret_key", data_dir)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its secret_key is not one"
        raise BadSetting(f"DATA_DIR={str(data_dir)!r} cannot be used: {reason}.") from error


def _kept_key(path: Path, data_dir: Path) -> str:
    if not path.exists():
        data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, draft = tempfile.mkstemp(dir=data_dir, prefix=".secret_key-")
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(get_random_secret_key())
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
        Path(draft).unlink()
    return path.read_text(encoding="ascii")
