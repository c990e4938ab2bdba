"""The store that comes with the install: a real server under our own supervisor.

No Django and no Redis client in here: plain arguments in, the URL of a socket out.

    with open_store(Path("var")) as url:      # owns the store, or attaches to the process that does
        client = redis.Redis.from_url(url)

One process at a time owns a data directory; everyone else attaches and takes over when the owner leaves.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .errors import (
    EmbeddedStoreError,
    StoreBinaryError,
    StoreCorruptError,
    StoreDirectoryError,
    StoreMissingError,
    StoreStartError,
    StoreTimeoutError,
    StoreVersionError,
)
from .paths import StorePaths
from .supervisor import START_TIMEOUT, STOP_TIMEOUT, Supervisor

__all__ = [
    "EmbeddedStoreError",
    "StoreBinaryError",
    "StoreCorruptError",
    "StoreDirectoryError",
    "StoreMissingError",
    "StorePaths",
    "StoreStartError",
    "StoreTimeoutError",
    "StoreVersionError",
    "Supervisor",
    "open_store",
]


@contextmanager
def open_store(
    data_dir: Path,
    *,
    timeout: float | None = START_TIMEOUT,
    stop_timeout: float = STOP_TIMEOUT,
    config: Mapping[str, str] | None = None,
    binary: Path | None = None,
) -> Iterator[str]:
    """The URL of database 0, usable inside the block whether or not the site is running.

    Raises EmbeddedStoreError when the store is not ready within `timeout` seconds (None: no limit).
    """
    supervisor = Supervisor(StorePaths(data_dir), config=config, binary=binary, stop_timeout=stop_timeout)
    supervisor.start(timeout)
    try:
        yield supervisor.paths.url(0)
    finally:
        supervisor.stop()
