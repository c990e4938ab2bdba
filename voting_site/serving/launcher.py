"""Run the site in one process tree: store, preparation, web server, housekeeping; stop it in reverse order."""

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.core.management import call_command

from articles import housekeeping
from articles.demo.seeding import seed_if_empty
from articles.management.progress import progress
from articles.repository import Repository
from articles.wiring import patient_repository
from voting_site.configuration.hosts import EVERY_ADDRESS, in_address
from voting_site.configuration.service_urls import without_secrets
from voting_site.embedded import StorePaths, Supervisor
from voting_site.serving import static_files, web_server
from voting_site.serving.housekeeper import Housekeeper
from voting_site.serving.web_server import CannotServe

__all__ = ["CannotServe", "serve"]

Say = Callable[[str], object]

_preparing = threading.Event()


class _Stopped(Exception):
    """A signal arrived while the site was starting."""


def serve(say: Say) -> int:
    """Serve until Ctrl-C or SIGTERM, then stop the web server and after it the store. Return the exit status.

    Raises CannotServe, EmbeddedStoreError and StoreError, each with a sentence for the operator.
    """
    host, port = settings.CONFIGURATION["HOST"], settings.CONFIGURATION["PORT"]
    web_server.check_free(host, port)
    with _signals() as stopping, _store():
        try:
            _prepare(say)
        except _Stopped:
            return 0
        return _serve_web(say, host, port, stopping)


def _serve_web(say: Say, host: str, port: int, stopping: threading.Event) -> int:
    server = web_server.start(host, port)
    housekeeper: Housekeeper | None = None
    try:
        web_server.wait_until_listening(server, host, port, stopping.is_set)
        say(_greeting(host, port))
        if not settings.RATE_LIMITS:
            say("Warning: RATE_LIMITS is off. Passwords can be guessed, and forms sent, without limit.")
        housekeeper = Housekeeper(_run_housekeeping)
        while not stopping.is_set():
            if server.poll() is not None:
                raise CannotServe(f"The web server ended with status {server.returncode}.")
            housekeeper.watch()
            time.sleep(0.1)
    finally:
        _stop(server, housekeeper)
    say("Stopped.")
    return 0


def _stop(server: "subprocess.Popen[bytes]", housekeeper: Housekeeper | None) -> None:
    """Stop both concurrently. The store is stopped afterwards."""
    if housekeeper:
        housekeeper.ask_to_stop()
    web_server.stop(server)
    if housekeeper:
        housekeeper.stop()


def _run_housekeeping(stopping: threading.Event) -> None:
    housekeeping.keep(patient_repository, settings.TICK_SECONDS, stopping)


@contextmanager
def _signals() -> Iterator[threading.Event]:
    """Yield an event that Ctrl-C and SIGTERM set; they also interrupt the preparation."""
    stopping = threading.Event()

    def stop(*_: object) -> None:
        if stopping.is_set():
            return
        stopping.set()
        if _preparing.is_set():
            raise _Stopped

    previous_handlers = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for number, handler in previous_handlers.items():
            signal.signal(number, handler)


@contextmanager
def _store() -> Iterator[None]:
    """Keep the embedded store running, and restart it if it dies. Does nothing if REDIS_URL is set."""
    if not settings.STORE_IS_EMBEDDED:
        yield
        return
    supervisor = Supervisor(StorePaths(Path(settings.DATA_DIR)))
    supervisor.start(timeout=None)
    try:
        yield
    finally:
        supervisor.stop()


def _prepare(say: Say) -> None:
    """Bring everything up to date. Every step can be interrupted, and is completed at the next start."""
    _preparing.set()
    try:
        call_command("migrate", interactive=False, verbosity=0)
        repository = patient_repository()
        _adopt_rules(repository, say)
        static_files.gather()
        if settings.CONFIGURATION["DEMO"] and (message := seed_if_empty(repository)):
            say(message)
    finally:
        _preparing.clear()


def _adopt_rules(repository: Repository, say: Say) -> None:
    """Rescore all articles if VOTES_PER_DAY was changed or a change of the ranking was interrupted."""
    with progress(unit="articles", shown=False) as bar:
        changed = repository.adopt_rules(bar.reach)
    if changed:
        say("The weight of a vote has changed: all articles were rescored.")


def _greeting(host: str, port: int) -> str:
    name = "localhost" if host in ("127.0.0.1", "::1", *EVERY_ADDRESS) else host
    store = "the embedded store" if settings.STORE_IS_EMBEDDED else without_secrets(settings.STORE_URL)
    return "\n".join(
        [
            "",
            f"  The site is at   http://{in_address(name)}:{port}/",
            f"  Its data is in   {settings.DATA_DIR}  (articles: {store})",
            "  Administrator    run `make admin` in another terminal, then log in at /admin/",
            "  To stop          Ctrl-C",
            "",
        ]
    )
