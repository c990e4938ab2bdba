"""Keep public pages, and answer with the kept copy while the store or the accounts' database is away."""

import time
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.core.exceptions import MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.cache import get_conditional_response
from django.utils.http import parse_http_date_safe

from articles.configuration import choices
from articles.configuration.choices import chosen
from articles.kept_pages.refresher import Refresher
from articles.kept_pages.requests import SHARED_FOR, PublicPage, copying, is_plain, public_page, shared_page, whole
from articles.kept_pages.sharing import PAGE_STATE, PATIENCE, Turn, Turns
from articles.page_store import KEEP_EVERY, UNCHANGED_FOR, Address, KeptPage, PageStore, pack
from articles.site import nearest_languages
from articles.web import reading

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
