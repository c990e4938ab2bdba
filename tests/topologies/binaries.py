"""Which servers this machine has."""

import shutil
from functools import cache
from pathlib import Path

from voting_site.embedded import EmbeddedStoreError
from voting_site.embedded.binary import find_binary, read_version

REDIS_MISSING = "redis-server is not installed"


@cache
def redis() -> Path | None:
    """Return the installed Redis, 7.0 or newer; None if there is none."""
    path = shutil.which("redis-server")
    if path is None:
        return None
    try:
        version = read_version(Path(path))
    except EmbeddedStoreError:
        return None
    return Path(path) if version.name == "Redis" and version.number >= (7,) else None


def valkey() -> Path:
    """Return the server of the embedded store."""
    return find_binary()


def redis_or_valkey() -> Path:
    return redis() or valkey()
