"""The embedded store: a server from a Python package, run by a supervisor in this process.

This package imports neither Django nor a Redis client: it takes plain arguments and returns the URL of a socket.

    with open_store(Path("var")) as url:      # owns the store, or attaches to the process that does
        client = redis.Redis.from_url(url)

One process at a time owns a data directory; other processes attach, and take over when the owner exits.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from .paths import EmbeddedStoreError, StoreCorruptError, StoreDirectoryError, StorePaths
from .supervisor import START_TIMEOUT, STOP_TIMEOUT, Supervisor


@contextmanager
def open_store(
    data_dir: Path, *, config: Mapping[str, str] | None = None, binary: Path | None = None
) -> Iterator[str]:
    """Yield the URL of database 0, whether or not the site is running. Raises EmbeddedStoreError."""
    supervisor = Supervisor(StorePaths(data_dir), config=config, binary=binary)
    supervisor.start(START_TIMEOUT)
    try:
        yield supervisor.paths.url(0)
    finally:
        supervisor.stop()
