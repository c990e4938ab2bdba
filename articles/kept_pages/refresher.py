"""Keeps copies of pages that only members visit, and of the main lists even if no one visits them."""

import fcntl
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Lock, Thread

from django.db import connections
from django.http import HttpRequest
from django.urls import reverse

from articles.configuration.choices import chosen
from articles.kept_pages.requests import copying
from articles.page_store import KEEP_EVERY, UNCHANGED_FOR, Address, PageStore

_log = logging.getLogger(__name__)

_MAIN_LISTS = ("articles:front", "articles:newest", "articles:hot", "articles:top", "articles:groups")
_MOST_WAITING = 64
_MOST_SITES = 4
_TRIM_EVERY = 60.0  # seconds
_LOOK_EVERY = 1.0
"""Seconds after which a retraction is noticed.

It invalidates the copies of the main lists, which are made again.
"""


class Refresher:
    """A thread of each worker. `keep` answers a request of `copying` and keeps the page."""

    def __init__(self, directory: Path, pages: PageStore, keep: Callable[[HttpRequest], object]) -> None:
        self._lock_file = directory / ".refresher"
        self._pages = pages
        self._keep = keep
        self._waiting: Queue[HttpRequest] = Queue(_MOST_WAITING)
        self._sites: OrderedDict[str, HttpRequest] = OrderedDict()
        self._starting = Lock()
        self._thread: Thread | None = None
        self._as_of = pages.latest_retraction()
        self.requested_at = 0.0  # of the monotonic clock: only a request changes a list, or time

    def see(self, request: HttpRequest, site: str) -> None:
        """Remember the scheme and host that readers use, and start the thread at a process's first request."""
        if site not in self._sites:
            self._sites[site] = copying(request, "/", "", chosen.language)
            while len(self._sites) > _MOST_SITES:
                self._sites.popitem(last=False)
        if not self._is_running():
            self._start()

    def _is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _start(self) -> None:
        with self._starting:
            if not self._is_running():
                self._thread = Thread(target=self._run, name="kept-pages", daemon=True)
                self._thread.start()

    def ask_for(self, request: HttpRequest) -> None:
        """Keep the page soon; not at all while many others wait."""
        try:
            self._waiting.put_nowait(request)
        except Full:
            _log.debug("too many pages wait to be kept; %s is left out", request.path)

    def _run(self) -> None:
        trimmed_at = 0.0
        while True:
            self.keep_main_lists()
            if time.monotonic() - trimmed_at > _TRIM_EVERY:
                self._pages.trim()
                trimmed_at = time.monotonic()
            self.keep_waiting(KEEP_EVERY)

    def keep_waiting(self, seconds: float) -> None:
        """Keep the pages that were asked for, and those that are within the next seconds, until a retraction."""
        ends = time.monotonic() + seconds
        while True:
            left = max(0.0, ends - time.monotonic())
            try:
                self._keep_safely(self._waiting.get(timeout=min(_LOOK_EVERY, left)))
            except Empty:
                if not left or self._pages.latest_retraction() != self._as_of:
                    return

    def keep_main_lists(self) -> None:
        """Keep the main lists in every language, unless another worker is doing that.

        Without a request in the last two rounds, only lists that are as old as an unchanged article's page may be.
        """
        self._as_of = self._pages.latest_retraction()
        is_idle = time.monotonic() - self.requested_at > 2 * KEEP_EVERY
        oldest = UNCHANGED_FOR if is_idle else KEEP_EVERY / 2
        try:
            self._lock_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with self._lock_file.open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for site, sample in list(self._sites.items()):
                    for name in _MAIN_LISTS:
                        for language in chosen.SITE_LANGUAGES:
                            address = Address(site, reverse(name), "", language)
                            if self._pages.age(address) > oldest:
                                self._keep_safely(copying(sample, address.path, "", language))
        except OSError:
            return  # another worker has the lock, or there can be no directory

    def _keep_safely(self, request: HttpRequest) -> None:
        try:
            self._keep(request)
        except Exception:
            _log.exception("the page %s could not be kept", request.path)
        finally:
            connections.close_all()
