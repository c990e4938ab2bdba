"""Run the site in one process tree: store, web server, processes of extras; stop it in reverse order.

This process stays small. The web server's imports the site, prepares it, and forks workers and housekeeper.
"""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection, HTTPException
from importlib import import_module
from pathlib import Path

from django.conf import settings

from articles.domain import extras
from voting_site.configuration.hosts import EVERY_ADDRESS
from voting_site.embedded import StorePaths, Supervisor
from voting_site.serving import disk
from voting_site.serving.listener import CannotServe, bound
from voting_site.serving.metrics_folder import metrics_folder
from voting_site.serving.signals import Signals
from voting_site.serving.web_server import PATIENCE, WebServer

__all__ = ["CannotServe", "serve"]

_STOPS = (signal.SIGINT, signal.SIGTERM)
_LOOK_SECONDS = 1.0  # until a failed store or a full disk is noticed; a process that ends is noticed at once
_STARTING_SECONDS = 0.1  # between two looks at a process that starts


def serve(say: Callable[[str], object], *, runs_housekeeping: bool = True) -> None:
    """Serve until Ctrl-C or SIGTERM, then stop the web server and after it the store.

    Without `runs_housekeeping`, another process has to run it: see `manage.py tick`.

    Raises CannotServe and EmbeddedStoreError, each with a sentence for the operator. Exits if the web server's
    process has said why it ended.
    """
    host, port, data_dir = settings.HOST, settings.PORT, Path(settings.DATA_DIR)
    if disk.is_full(data_dir):
        raise CannotServe(disk.refusal(data_dir, [data_dir, settings.CONFIGURATION["BACKUP_DIR"] or data_dir]))
    workers, signals = settings.WEB_WORKERS, Signals(*_STOPS, signal.SIGHUP, signal.SIGCHLD)
    with (
        bound(host, port, PATIENCE, workers) as listeners,
        _store() as store,
        metrics_folder(data_dir, f"{host}:{port}", workers) as metrics,
        _processes() as others,
    ):
        server = WebServer(host, port, listeners, metrics, runs_housekeeping=runs_housekeeping)
        try:
            _watch(signals, server, others, store)
        finally:
            server.stop()
    say("Stopped.")


def _watch(
    signals: Signals, server: WebServer, others: Sequence[extras.Process], store: Supervisor | None
) -> None:
    """Restart what ends, and reload, until a signal."""
    watched_disk = disk.DiskWatch(Path(settings.DATA_DIR))
    while not set(_STOPS) & set(signals.received):
        is_settled = server.is_settled and all(one.is_settled for one in others)
        signals.wait(_LOOK_SECONDS if is_settled else _STARTING_SECONDS)
        signals.take(signal.SIGCHLD)
        if server.has_begun and signals.take(signal.SIGHUP):
            server.reload()
            for one in others:
                one.renew()
        if store and store.failure:  # it could not be loaded
            raise store.failure
        server.watch()
        for one in others:
            one.watch()
        watched_disk.look()


def check_address() -> None:
    """Raise CannotServe if the site cannot listen at its address, unless a site does."""
    host, port = settings.HOST, settings.PORT
    try:
        with bound(host, port, PATIENCE, workers=1):
            return
    except CannotServe:
        connection = HTTPConnection("localhost" if host in EVERY_ADDRESS else host, port, timeout=2)
        try:
            connection.request("GET", "/healthz")
            if connection.getresponse().read() == b"alive\n":
                return
        except (OSError, HTTPException):
            pass
        finally:
            connection.close()
        raise


@contextmanager
def _processes() -> Iterator[Sequence[extras.Process]]:
    """Keep the processes of extras that are wanted."""
    with ExitStack() as kept:
        found = (kept.enter_context(import_module(name).keep()) for name in extras.modules("process"))
        yield list(filter(None, found))


@contextmanager
def _store() -> Iterator[Supervisor | None]:
    """Keep the embedded store running, and restart it if it dies. Yields None if REDIS_URL is set."""
    if not settings.STORE_IS_EMBEDDED:
        yield None
        return
    supervisor = Supervisor(StorePaths(Path(settings.DATA_DIR)), binary=settings.STORE_SERVER)
    supervisor.begin()
    try:
        yield supervisor
    finally:
        supervisor.stop()
