"""Files that only the site's user can read: keys, logins, backups."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Yield a new file, which is on the disk at the end. Raises FileExistsError."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def write(path: Path, content: bytes) -> None:
    """Write a file atomically, in place of one that exists."""
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    with new_file(part) as file:
        file.write(content)
    part.replace(path)
