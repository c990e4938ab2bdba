"""Bring a site up to date before it serves, in a process that ends: what this needs does not stay in memory."""

import math
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import DatabaseError, connection

from articles.configuration import choices
from articles.configuration.choices import chosen
from articles.doctor import store as store_checks
from articles.doctor.examination import Examination, accounts_file
from articles.doctor.settings import NO_CACHE, UNLIMITED
from articles.domain.errors import StoreUnavailable
from articles.management.base import progress
from articles.views.owner import administrator
from articles.web import extras
from articles.web.wiring import patient_repository, unprepared_repository
from voting_site.command_line import refuse_former_accounts, say, with_sentences
from voting_site.configuration.hosts import EVERY_ADDRESS, in_address
from voting_site.configuration.loading import gone_sentence
from voting_site.configuration.service_urls import without_secrets
from voting_site.configuration.variables import GONE
from voting_site.embedded import StorePaths, launch, probe
from voting_site.serving import static_files

_LOADING_SECONDS = 3.0
"""Once all else is prepared, the site starts after this time although its embedded store is still loading."""

_POLL = 0.02  # seconds between two looks at a store that is loading


class Preparation:
    """A process that prepares the site, forked from this one, with which it ends."""

    def __init__(self) -> None:
        forking = multiprocessing.get_context("fork")
        self._results, results = forking.Pipe(duplex=False)
        self._process = forking.Process(target=_run, args=(results, os.getpid()), name="preparation")
        self._process.start()
        results.close()

    def result(self) -> tuple[bool, str]:
        """Wait for it. Return whether the store is prepared, and what to tell the operator once the site serves.

        Exits if it has failed, which it has said.
        """
        try:
            is_prepared, greeting = self._results.recv()
        except EOFError:
            is_prepared, greeting = False, ""
        self._process.join()
        if self._process.exitcode:
            sys.exit(1)
        return is_prepared, greeting


def _run(results: Connection, parent: int) -> None:
    launch.end_with(parent, signal.SIGTERM)
    with with_sentences():
        results.send((_prepare(), _greeting()))


def _prepare() -> bool:
    """Bring everything up to date, while the store loads. Every step can be interrupted, and is completed at the
    next start.

    Return False if the store does not answer yet: the site starts all the same.
    """
    try:
        _migrate()
        for name, text in choices.take_out(GONE).items():
            say(f"Warning: In the browser, {name} was set to {text!r}. {gone_sentence(name)}")
        static_files.gather()
        _wait(_LOADING_SECONDS)
        prepare_store(say)
    except StoreUnavailable as error:
        say(
            f"Warning: The store does not answer ({error}). "
            "Until it does, readers see copies of earlier pages, and nothing can be changed."
        )
        return False
    return True


def _wait(seconds: float = math.inf) -> None:
    """Give the embedded store time to load. Raises StoreUnavailable if that takes longer."""
    end = time.monotonic() + seconds
    while (
        settings.STORE_IS_EMBEDDED
        and probe.ping(StorePaths(Path(settings.DATA_DIR)).socket) is not probe.Answer.READY
    ):
        if time.monotonic() > end:
            raise StoreUnavailable("it is still loading")
        time.sleep(_POLL)


def _migrate() -> None:
    """Bring the accounts up to date. New ones are not created beside a store that remembers others.

    Raises StoreUnfit for such a store, and ImproperlyConfigured for accounts of a version before 1.0.0.
    """
    refuse_former_accounts()
    file = accounts_file()
    if (file is not None and not file.exists()) or not connection.introspection.table_names():
        _wait()
        with suppress(StoreUnavailable):
            unprepared_repository().check(None)
    call_command("migrate", interactive=False, verbosity=0)


def prepare_store(say: Callable[[str], object]) -> None:
    """Check the store, adopt the configuration's rules, and let extras prepare theirs."""
    repository = patient_repository()
    examination = Examination(repository)
    for finding in (*store_checks.check_permissions(examination), *store_checks.check_persistence(examination)):
        if finding.level.needs_attention:
            say(f"Warning: {finding.text} {finding.advice}")
    with progress(unit="articles", shown=False) as bar:
        if repository.adopt_rules(bar.reach):  # VOTES_PER_DAY was changed, or a change of the ranking interrupted
            say("The weight of a vote has changed: all articles were rescored.")
    for message in extras.prepared(repository):
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


def _greeting() -> str:
    host, port = settings.HOST, settings.PORT
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
            *([f"Warning: {UNLIMITED}"] if not chosen.LIMITS else []),
            *([f"Note: {NO_CACHE}"] if not settings.HAS_CACHE else []),
        ]
    )
