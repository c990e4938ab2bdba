"""Run the site in one process tree: store, preparation, web server, housekeeping; stop it in reverse order."""

import logging
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection

from articles import housekeeping
from articles.demo.seeding import seed_if_empty
from articles.doctor import store as store_checks
from articles.doctor.examination import Examination, accounts_file
from articles.doctor.settings import NO_CACHE, UNLIMITED
from articles.domain.errors import StoreError, StoreUnavailable
from articles.management.base import handling, progress
from articles.operation import outages
from articles.wiring import follower, patient_repository, unprepared_repository
from links.process import LinkFetcher, link_fetcher
from owner import administrator, choices
from owner.choices import chosen
from tasks import keep_working
from voting_site.configuration.hosts import EVERY_ADDRESS, in_address
from voting_site.configuration.loading import gone_sentence
from voting_site.configuration.service_urls import without_secrets
from voting_site.configuration.variables import GONE
from voting_site.embedded import StorePaths, Supervisor
from voting_site.serving import disk, static_files
from voting_site.serving.listener import CannotServe, bound, listen
from voting_site.serving.metrics_folder import metrics_folder
from voting_site.serving.web_server import PATIENCE, WebServer

logger = logging.getLogger(__name__)

STOP_TIMEOUT = 3.0
"""Seconds to wait for the current step. Steps can be interrupted safely, so there is no need to wait longer."""


class Housekeeper:
    """Run `keep(stopping)` in a thread until that event. Its errors do not affect the site."""

    def __init__(self, keep: Callable[[threading.Event], object], stopping: threading.Event) -> None:
        self._keep, self._stopping = keep, stopping
        self._thread = self._start_thread()

    def _start_thread(self) -> threading.Thread:
        thread = threading.Thread(target=self._run, name="housekeeping", daemon=True)
        thread.start()
        return thread

    def _run(self) -> None:
        try:
            self._keep(self._stopping)
        except BaseException:
            logger.exception("housekeeping failed")

    def watch(self) -> None:
        """Restart the thread if it has ended unexpectedly."""
        if not self._thread.is_alive() and not self._stopping.is_set():
            logger.error("housekeeping had ended unexpectedly and is restarted")
            self._thread = self._start_thread()

    def wait(self) -> None:
        """Wait up to STOP_TIMEOUT for the thread, which the event ends."""
        self._thread.join(STOP_TIMEOUT)
        if self._thread.is_alive():
            logger.warning("housekeeping did not end within %g s and is abandoned", STOP_TIMEOUT)


__all__ = ["CannotServe", "serve"]

Say = Callable[[str], object]

_POLL = 0.1  # seconds until a signal or a dead web server is noticed
_STORE_POLL = 2.0  # seconds between two attempts to prepare a store that did not answer at the start
_LOADING_SECONDS = 3.0
"""Once all else is prepared, the site starts after this time although its embedded store is still loading."""

_preparing = threading.Event()


class _Stopped(Exception):
    """A signal arrived while the site was starting."""


def serve(say: Say, *, runs_housekeeping: bool = True) -> None:
    """Serve until Ctrl-C or SIGTERM, then stop the web server and after it the store.

    Without `runs_housekeeping`, another process has to run it: see `manage.py tick`.

    Raises CannotServe, EmbeddedStoreError and StoreError, each with a sentence for the operator.
    """
    host, port, data_dir = settings.HOST, settings.PORT, Path(settings.DATA_DIR)
    if disk.is_full(data_dir):
        raise CannotServe(disk.refusal(data_dir, [data_dir, settings.CONFIGURATION["BACKUP_DIR"] or data_dir]))
    workers = settings.WEB_WORKERS
    with (
        bound(host, port, PATIENCE, workers) as listeners,
        _signals() as signals,
        _store() as store,
        metrics_folder(data_dir, f"{host}:{port}", workers) as metrics,
        link_fetcher() as fetcher,
    ):
        server = WebServer(host, port, listeners, metrics)  # it imports the site meanwhile
        workers = list[Housekeeper]()
        try:
            is_prepared = _prepare(say, store)
            listen(listeners)
            server.let_serve()
            greeting = _greeting(host, port)
            server.wait_until_answering(signals.stopping.is_set)
            say(greeting)
            if not chosen.LIMITS:
                say(f"Warning: {UNLIMITED}")
            if not settings.HAS_CACHE:
                say(f"Note: {NO_CACHE}")
            workers += [
                Housekeeper(partial(_keep_house, say, is_prepared, runs_housekeeping), signals.stopping),
                Housekeeper(lambda stopping: follower().keep(stopping), signals.stopping),
            ]
            _watch(signals, server, fetcher, store, workers)
        except _Stopped:
            return
        finally:  # all concurrently; the store is stopped afterwards
            signals.stopping.set()
            server.stop()
            for worker in workers:
                worker.wait()
        say("Stopped.")


def _watch(
    signals: "_Signals",
    server: WebServer,
    fetcher: LinkFetcher | None,
    store: Supervisor | None,
    workers: Sequence[Housekeeper],
) -> None:
    """Restart what ends, and reload, until a signal."""
    watched_disk = disk.DiskWatch(Path(settings.DATA_DIR))
    while not signals.stopping.wait(_POLL):
        if signals.reloading.is_set():
            signals.reloading.clear()
            server.reload()
            if fetcher:
                fetcher.renew()
        if store and store.failure:  # it could not be loaded
            raise store.failure
        server.watch()
        if fetcher:
            fetcher.watch()
        for worker in workers:
            worker.watch()
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


def _keep_house(say: Say, is_prepared: bool, runs_housekeeping: bool, stopping: threading.Event) -> None:
    """Prepare the store as soon as it answers, if it did not at the start; then keep house, or only wait."""
    while not is_prepared and not stopping.is_set():
        try:
            prepare_store(say)
            is_prepared = True
        except StoreError as error:
            outages.report(error)
            stopping.wait(_STORE_POLL)
    if runs_housekeeping:
        with keep_working(stopping):
            housekeeping.keep(patient_repository, settings.TICK_SECONDS, stopping)
    else:
        stopping.wait()


@dataclass
class _Signals:
    """What Ctrl-C and SIGTERM ask for, and SIGHUP."""

    stopping: threading.Event = field(default_factory=threading.Event)
    reloading: threading.Event = field(default_factory=threading.Event)


@contextmanager
def _signals() -> Iterator[_Signals]:
    """Yield the events that signals set. Those that stop the site also interrupt the preparation."""
    signals = _Signals()

    def stop(*_: object) -> None:
        if signals.stopping.is_set():
            return
        signals.stopping.set()
        if _preparing.is_set():
            raise _Stopped

    reload = signals.reloading.set
    with handling({signal.SIGINT: stop, signal.SIGTERM: stop, signal.SIGHUP: lambda *_: reload()}):
        yield signals


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


def _wait(store: Supervisor | None, seconds: float | None) -> None:
    """Give it time to load. Raises StoreUnavailable if that takes longer, EmbeddedStoreError if it fails."""
    if store and not store.wait_until_ready(seconds):
        raise StoreUnavailable("it is still loading")


def _prepare(say: Say, store: Supervisor | None) -> bool:
    """Bring everything up to date, while the store loads. Every step can be interrupted, and is completed at the
    next start.

    Return False if the store does not answer yet: the site starts all the same.
    """
    _preparing.set()
    try:
        _migrate(store)
        for name, text in choices.take_out(GONE).items():
            say(f"Warning: In the browser, {name} was set to {text!r}. {gone_sentence(name)}")
        static_files.gather()
        _wait(store, _LOADING_SECONDS)
        prepare_store(say)
    except StoreUnavailable as error:
        say(
            f"Warning: The store does not answer ({error}). "
            "Until it does, readers see copies of earlier pages, and nothing can be changed."
        )
        return False
    finally:
        _preparing.clear()
    return True


def _migrate(store: Supervisor | None) -> None:
    """Bring the accounts up to date. Raises StoreUnfit for new ones beside an old store, and as `_wait`."""
    file = accounts_file()
    if (file is not None and not file.exists()) or not connection.introspection.table_names():
        _wait(store, None)
        with suppress(StoreUnavailable):
            unprepared_repository().check(None)
    call_command("migrate", interactive=False, verbosity=0)


def prepare_store(say: Say) -> None:
    """Check the store, adopt the configuration's rules, and fill the demo's site."""
    repository = patient_repository()
    examination = Examination(repository)
    for finding in (*store_checks.check_permissions(examination), *store_checks.check_persistence(examination)):
        if finding.level.needs_attention:
            say(f"Warning: {finding.text} {finding.advice}")
    with progress(unit="articles", shown=False) as bar:
        if repository.adopt_rules(bar.reach):  # VOTES_PER_DAY was changed, or a change of the ranking interrupted
            say("The weight of a vote has changed: all articles were rescored.")
    if settings.DEMO and (message := seed_if_empty(repository)):
        say(message)


def _administrator_lines(base: str) -> Iterator[str]:
    """Yield where administrators find their pages, or how to create the first one, with a new code."""
    code = ""
    with suppress(DatabaseError):  # readers get error pages, which say so
        code = administrator.issue_code()
    if not code:
        yield "  Administrator    log in, then open Administration in the menu of your account"
        return
    address = f"{settings.SITE_URL or base}/{administrator.PATH}"
    yield f"  Administrator    open {address}#{code}"
    yield "                   once, within a day; or run `make admin` in another terminal"


def _greeting(host: str, port: int) -> str:
    name = "localhost" if host in ("127.0.0.1", "::1", *EVERY_ADDRESS) else host
    store = "the embedded store" if settings.STORE_IS_EMBEDDED else without_secrets(settings.STORE_URL)
    base = f"http://{in_address(name)}:{port}"
    return "\n".join(
        [
            "",
            f"  The site is at   {base}/",
            f"  Its data is in   {settings.DATA_DIR}  (articles: {store})",
            *_administrator_lines(base),
            "  To stop          Ctrl-C",
            "",
        ]
    )
