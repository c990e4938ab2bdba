"""Serve the site with a pool of workers, until SIGTERM or SIGHUP."""

import gc
import os
import shutil
import signal
import socket
from collections.abc import Callable, Sequence
from pathlib import Path

from django.conf import settings
from django.urls import reverse
from django.utils import translation

from articles.api import documentation
from articles.operation import metric_files
from articles.page_store import PageStore
from articles.readership.record import GatheredViews, count_apart
from articles.wiring import repository
from voting_site.jinja import load_most_read
from voting_site.serving.requests import declared
from voting_site.serving.workers.pool import Pool
from voting_site.serving.workers.recent_pages import RecentPages, Views
from voting_site.serving.workers.worker import Worker, grace
from voting_site.wsgi import application  # before the forks, which share its memory


def serve(descriptors: Sequence[int], patience: float, began: Callable[[], object] = lambda: None) -> None:
    """Serve on the listening sockets; cut slow connections after `patience` seconds. Call `began` when it does.

    SIGTERM ends the current requests. SIGHUP also answers the next request of each connection.
    """
    listeners = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    signals: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda received, _frame: signals.append(received))

    # Once before the forks, not at each one's first request.
    load_most_read()
    documentation.document()  # half a second, in which a worker's clients would give up
    for language, _name in settings.LANGUAGES:
        with translation.override(language):
            reverse("articles:front")  # it reads all addresses
    # What is loaded now stays: the workers' garbage collector need not look through it, nor copy it into each.
    gc.freeze()
    server, launcher, folder = os.getpid(), os.getppid(), os.environ.get(metric_files.VARIABLE)

    def work(number: int, alive: int) -> None:
        metric_files.take_number()
        listener = listeners[number % len(listeners)]
        Worker(application, listener, patience, alive, server, launcher, recent_pages()).run()

    Pool(work, settings.WEB_WORKERS, began).run(signals, grace(patience))
    if folder and os.getppid() != launcher:  # it was killed, and cannot remove the folder
        shutil.rmtree(folder, ignore_errors=True)


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
