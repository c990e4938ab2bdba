"""The servers that are measured: the site as its operator starts it, and Django itself with the site's workers."""

import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import redis

from bench.site.processes import command_line, descendants, free_port, running, wait_until
from voting_site.embedded import StorePaths
from voting_site.serving import listener

_SERVE = "bench.site.peers.serve"
_PATIENCE = 20.0

WORKERS = 2
"""Of the peers, as many as the site has by default."""

OPEN = {
    "LOG_LEVEL": "ERROR",
    "LIMITS": "off",
    # All readers come from one address, and each of their views should count.
    "VIEWS_PER_NETWORK": "10000000",
}


@dataclass
class Server:
    """A server that answers on a port of this machine. `web` returns the ids of the processes that serve pages."""

    port: int
    web: Callable[[], list[int]]
    store: Callable[[], list[int]] = field(default=list)
    """Returns the ids of the processes that hold the data."""

    client: "redis.Redis | None" = None
    """A connection to its store, if that is one of the site."""

    start_seconds: float = 0.0


def answers(port: int, path: str = "/") -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as response:
            return bool(response.status == 200)
    except OSError:
        return False


@contextmanager
def site(data_dir: Path, **own: str) -> Iterator[Server]:
    """Run the site with its own settings on a filled data directory, as `make run` does."""
    port, log = free_port(), data_dir.with_name(f"site-{data_dir.name}.log")
    command = [sys.executable, "manage.py", "run"]
    with running(command, log, OPEN | own | {"DATA_DIR": str(data_dir), "PORT": str(port)}) as launcher:
        seconds = wait_until(lambda: answers(port, "/readyz"), launcher, log)
        children = descendants(launcher.pid)[1:]
        (store,) = [pid for pid in children if b"valkey-server" in command_line(pid)]
        client = redis.Redis.from_url(StorePaths(data_dir).url(0))
        try:
            yield Server(
                port,
                lambda: [pid for pid in descendants(launcher.pid) if pid not in (launcher.pid, store)],
                lambda: [store],
                client,
                seconds,
            )
        finally:
            client.close()


@contextmanager
def workers(settings: str, folder: Path, own: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Run the site's web server with the WSGI application of other settings."""
    port, log = free_port(), folder / f"{settings}.log"
    with listener.bound("127.0.0.1", port, _PATIENCE, WORKERS) as listeners:
        listener.listen(listeners)
        descriptors = [one.fileno() for one in listeners]
        command = [sys.executable, "-m", _SERVE, ",".join(map(str, descriptors)), str(_PATIENCE)]
        variables = dict(own or {}) | {"DJANGO_SETTINGS_MODULE": settings, "WEB_WORKERS": str(WORKERS)}
        with running(command, log, variables, descriptors=descriptors) as process:
            seconds = wait_until(lambda: answers(port), process, log)
            yield Server(port, lambda: descendants(process.pid), start_seconds=seconds)
