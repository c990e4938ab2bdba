"""Serve the site with a pool of workers, until SIGTERM or SIGHUP."""

import gc
import os
import shutil
import signal
import socket
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from django.conf import settings
from django.core.cache import DEFAULT_CACHE_ALIAS, caches
from django.db import connection
from django.urls import reverse
from django.utils import translation

from articles.api import documentation
from articles.operation import metric_files
from articles.page_store import PageStore
from articles.repository import script_digests
from articles.text.characters import has_stacked_marks
from articles.web.readership.record import GatheredViews, count_apart
from articles.web.wiring import repository
from voting_site.command_line import say
from voting_site.jinja import load_most_read
from voting_site.serving.listener import listen
from voting_site.serving.preparation import Preparation
from voting_site.serving.requests import declared
from voting_site.serving.signals import Signals
from voting_site.serving.workers import housekeeper
from voting_site.serving.workers.pool import Pool
from voting_site.serving.workers.recent_pages import RecentPages, Views
from voting_site.serving.workers.worker import Worker, grace


def serve(
    descriptors: Sequence[int],
    patience: float,
    began: Callable[[], object] = lambda: None,
    *,
    prepares: bool = False,
    runs_housekeeping: bool = True,
) -> None:
    """Serve on the sockets, after the site is prepared if it `prepares` it. Call `began` when it does.

    Cut slow connections after `patience` seconds. SIGTERM ends the current requests. SIGHUP also answers the next
    request of each connection.
    """
    preparation = Preparation() if prepares else None
    _load()
    is_prepared, greeting = preparation.result() if preparation else (False, "")
    wsgi = import_module("voting_site.wsgi")  # it lists the static files; before the forks, which share its memory

    wsgi.keep_connections()
    listeners = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    listen(listeners)
    signals = Signals(signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    # What is loaded now stays: the workers' garbage collector need not look through it, nor copy it into each.
    gc.freeze()
    server, launcher, folder = os.getpid(), os.getppid(), os.environ.get(metric_files.VARIABLE)

    def greet() -> None:
        began()
        if greeting:
            say(greeting)

    def work(number: int, alive: int) -> None:
        metric_files.take_number()
        if number == settings.WEB_WORKERS:
            housekeeper.run(server, is_prepared, runs_housekeeping)
            return
        wsgi.limit_waits()
        listener = listeners[number % len(listeners)]
        Worker(wsgi.application, listener, patience, alive, server, launcher, recent_pages()).run()

    Pool(work, settings.WEB_WORKERS + 1, greet).run(signals, grace(patience))
    wsgi.leave_database()
    if folder and os.getppid() != launcher:  # it was killed, and cannot remove the folder
        shutil.rmtree(folder, ignore_errors=True)


def _load() -> None:
    """Load, once before the forks, what each process would at its first request, in memory of its own."""
    load_most_read(Path(settings.DATA_DIR) / "compiled_templates")
    documentation.document()  # half a second, in which a worker's clients would give up
    for language, _name in settings.LANGUAGES:
        with translation.override(language):
            reverse("articles:front")  # it reads all addresses
    script_digests()
    has_stacked_marks("")  # it makes a table of all characters
    connection.ops.compiler("SQLCompiler")
    caches[DEFAULT_CACHE_ALIAS]


def recent_pages() -> RecentPages | None:
    """Return recent pages that end with the retractions of this machine; None if they are turned off."""
    if not settings.RECENT_PAGES:
        return None
    is_declared = declared(behind_proxy=settings.BEHIND_PROXY, proxies=settings.TRUSTED_PROXIES)
    gathered = GatheredViews()
    return RecentPages(
        PageStore(Path(settings.KEPT_PAGES_DIR)).latest_retraction,
        is_declared,
        Views(count_apart, gathered.add, gathered.close),
        lambda articles: repository().comments.get_states(list(articles)),
    )
