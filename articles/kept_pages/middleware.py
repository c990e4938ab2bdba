"""Keep public pages, and answer with the kept copy while the store or the accounts' database is away.

Copies of pages that only members visit, and of the main lists even if no one visits them, are kept by a thread.
"""

import fcntl
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from queue import Empty, Full, Queue
from threading import Lock, Thread

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.db import connections
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.cache import get_conditional_response
from django.utils.http import parse_http_date_safe

from articles.configuration import choices
from articles.configuration.choices import chosen
from articles.kept_pages.requests import SHARED_FOR, PublicPage, copying, is_plain, public_page, shared_page, whole
from articles.kept_pages.sharing import PAGE_STATE, PATIENCE, Turn, Turns
from articles.page_store import KEEP_EVERY, UNCHANGED_FOR, Address, KeptPage, PageStore, pack
from articles.site import nearest_languages
from articles.web import reading

_log = logging.getLogger(__name__)

PLACE = b"<!--kept-page-->"  # where `templates/base.html` leaves room for the sentence that this is a copy
_MOST_NOT_DUE = 1_000  # number of addresses for which a process remembers when their copies are due
_VALIDATORS = ("ETag", "Last-Modified")
_KEPT_HEADERS = ("Content-Type", *_VALIDATORS)

_GONE = (404, 410)


class KeptPagesMiddleware:
    """Runs outside everything that may need the store or the database, and inside the cache headers."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if settings.KEPT_PAGES_DIR is None:
            raise MiddlewareNotUsed
        directory = Path(settings.KEPT_PAGES_DIR)
        self._get_response = get_response
        self._pages = PageStore(directory)
        self._turns = Turns(settings.SHARED_PAGES_AT_ONCE)
        self._not_due: dict[tuple[str, Address], float] = {}
        self.refresher = Refresher(directory, self._pages, self._copy)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        as_of = self._pages.latest_retraction()
        choices.follow(as_of)
        self.refresher.requested_at = time.monotonic()
        is_read = request.method in ("GET", "HEAD")
        shared = shared_page(request) if is_read else None
        is_open = not chosen.is_for_members or (shared and reading.knows_key(request, shared.view))
        if not (is_read and is_open):
            return self._get_response(request)
        if shared:
            return self._shared(request, shared)
        response = self._get_response(request)
        page = public_page(request)
        if page is None:
            return response
        address = page.address(_language(request))
        if getattr(response, "is_outage", False):
            return self._kept(page, address.language) or response
        self.refresher.see(request, page.site)
        if not page.may_be_copied:
            return response
        if response.status_code in _GONE:
            self._settle(request, address, response, as_of)
        elif response.status_code in (200, 304) and self._is_due(request, address, as_of):
            if is_plain(request) and response.status_code == 200:
                self._settle(request, address, response, as_of)
            elif page.may_be_copied_later:
                query = request.META.get("QUERY_STRING", "")
                self.refresher.ask_for(copying(request, request.path, query, address.language))
        return response

    def _shared(self, request: HttpRequest, page: PublicPage) -> HttpResponse:
        """Answer with the copy of a page that is the same for everyone, or 304; renew a copy that is too old."""
        address = page.address("")
        copy = self._pages.get(address)
        if copy and self._pages.age(address) < SHARED_FOR:
            return _unless_known(request, copy)
        with Turn(self._turns, address, 0.0 if copy else PATIENCE) as turn:
            vars(request)["turn"] = turn
            return self._written(request, page, address)

    def _written(self, request: HttpRequest, page: PublicPage, address: Address) -> HttpResponse:
        """Let the view write the whole page, keep it, and answer with the part that the request needs."""
        as_of = self._pages.latest_retraction()
        with whole(request):
            response = self._get_response(request)
            if getattr(response, "is_outage", False):
                return self._kept(page, address.language) or response
            self.refresher.see(request, page.site)
            if page.may_be_copied:
                self._settle(request, address, response, as_of)
        if response.status_code == 200:
            return _conditional(request, response)
        copy = self._pages.get(address) if getattr(response, "has_no_turn", False) else None
        return _unless_known(request, copy) if copy else response

    def _is_due(self, request: HttpRequest, address: Address, as_of: str) -> bool:
        """Return whether the copy is missing, or old and differs. It is not looked up again until it may be due.

        `as_of`: the latest retraction, after which copies are missing.
        """
        looked_up, now = (as_of, address), time.monotonic()
        if self._not_due.get(looked_up, now) > now:
            return False
        age = self._pages.age(address)
        left = KEEP_EVERY - age
        if KEEP_EVERY < age < UNCHANGED_FOR and self._is_same(request, address):
            left = KEEP_EVERY
        if left >= 0:
            if len(self._not_due) >= _MOST_NOT_DUE:
                self._not_due.clear()
            self._not_due[looked_up] = now + left
        return left < 0

    def _is_same(self, request: HttpRequest, address: Address) -> bool:
        """Return whether the copy of an article's page shows what the request found, but for views and times."""
        state, copy = request.META.get(PAGE_STATE, str)(), self._pages.get(address)
        return copy is not None and copy.state == state != ""

    def _copy(self, request: HttpRequest) -> None:
        """Read a page as a reader without an account, and keep it."""
        if chosen.is_for_members:
            return
        as_of = self._pages.latest_retraction()
        response, page = self._get_response(request), public_page(request)
        if page:
            self._settle(request, page.address(_language(request)), response, as_of)

    def _settle(self, request: HttpRequest, address: Address, response: HttpResponse, as_of: str) -> None:
        """Keep a page, or forget one that is gone. `as_of`: the latest retraction before it was read."""
        if response.status_code in _GONE:
            self._pages.forget(address)
        elif request.method == "GET" and response.status_code == 200 and not response.streaming:
            headers = {name: response[name] for name in _KEPT_HEADERS if name in response}
            state = request.META.get(PAGE_STATE, str)()
            self._pages.keep(pack(address, headers, time.time(), response.content, state), as_of)

    def _kept(self, page: PublicPage, language: str) -> HttpResponse | None:
        """Return the copy in the reader's language, or else in another; None without one."""
        copies = (self._pages.get(page.address(one)) for one in nearest_languages(language))
        copy = next(filter(None, copies), None)
        if copy is None:
            return None
        with translation.override(copy.address.language):
            notice = render_to_string("kept_page.html", {"at": copy.at}, using="jinja2")
        content = copy.content.replace(PLACE, notice.encode(), 1)
        response = HttpResponse(content, content_type=copy.headers["Content-Type"])
        response["Age"] = str(max(0, int(time.time() - copy.at)))
        response["Cache-Control"] = "no-store"
        response.is_outage = True  # type: ignore[attr-defined]
        return response


def _unless_known(request: HttpRequest, page: KeptPage) -> HttpResponse:
    """Return the copy, or 304 if the client has the same."""
    response = HttpResponse(page.content, content_type=page.headers["Content-Type"])
    for name in _VALIDATORS:
        if name in page.headers:
            response.headers[name] = page.headers[name]
    return _conditional(request, response)


def _conditional(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    modified = response.headers.get("Last-Modified")
    return (
        get_conditional_response(
            request,
            etag=response.headers.get("ETag"),
            last_modified=parse_http_date_safe(modified) if modified else None,
            response=response,
        )
        or response
    )


def _language(request: HttpRequest) -> str:
    return str(getattr(request, "LANGUAGE_CODE", chosen.language))


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
