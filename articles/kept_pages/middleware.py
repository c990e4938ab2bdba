"""Keep public pages, and answer with the kept copy while the store or the accounts' database is away."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from django.conf import settings
from django.core.exceptions import DisallowedHost, MiddlewareNotUsed
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.cache import get_conditional_response
from django.utils.http import parse_http_date_safe

from articles.kept_pages.pages import KEEP_EVERY, KeptPage, KeptPages, pack
from articles.kept_pages.refresher import Refresher
from articles.kept_pages.requests import address_of, copying, is_plain, may_be_kept, resolve_shared

PLACE = b"<!--kept-page-->"
"""Where `templates/base.html` leaves room for the sentence that this is a copy."""

SHARED_FOR = 60.0
"""Seconds for which a feed is served from its copy. Clients may keep it for longer, see `articles.web.caching`."""

_VALIDATORS = ("ETag", "Last-Modified")
_KEPT_HEADERS = ("Content-Type", *_VALIDATORS)

_GONE = (404, 410)


class KeptPagesMiddleware:
    """Runs outside of all that may need the store or the database, and inside of the cache headers."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if settings.KEPT_PAGES_DIR is None:
            raise MiddlewareNotUsed
        directory = Path(settings.KEPT_PAGES_DIR)
        self._get_response = get_response
        self._pages = KeptPages(directory)
        self.refresher = Refresher(directory, self._pages, self._copy)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if resolve_shared(request) and (fresh := self._fresh(request)):
            return fresh
        response = self._get_response(request)
        if not may_be_kept(request):
            return response
        if getattr(response, "is_outage", False):
            return self._kept(request) or response
        self.refresher.see(request)
        is_whole = is_plain(request) and response.status_code == 200
        if response.status_code in _GONE or (is_whole and self._is_due(request)):
            self._settle(request, response)
        elif response.status_code in (200, 304) and self._is_due(request):
            query = request.META.get("QUERY_STRING", "")
            self.refresher.ask_for(copying(request, request.path, query, _language(request)))
        return response

    def _fresh(self, request: HttpRequest) -> HttpResponse | None:
        """Return the copy of a page that is the same for everyone, or 304, if it is not too old."""
        with suppress(DisallowedHost):  # refused later, with the site's page
            address = address_of(request, "")
            if self._pages.age(address) < SHARED_FOR and (page := self._pages.get(address)):
                return _unless_known(request, page)
        return None

    def _is_due(self, request: HttpRequest) -> bool:
        return self._pages.age(address_of(request, _language(request))) > KEEP_EVERY

    def _copy(self, request: HttpRequest) -> None:
        """Read a page as a reader without account, and keep it."""
        self._settle(request, self._get_response(request))

    def _settle(self, request: HttpRequest, response: HttpResponse) -> None:
        """Keep a page, and forget one that no longer exists. Other responses, and HEAD, change nothing."""
        address = address_of(request, _language(request))
        if response.status_code in _GONE:
            self._pages.forget(address)
        elif request.method == "GET" and response.status_code == 200 and not response.streaming:
            headers = {name: response[name] for name in _KEPT_HEADERS if name in response}
            self._pages.keep(pack(address, headers, time.time(), response.content))

    def _kept(self, request: HttpRequest) -> HttpResponse | None:
        """Return the copy in the reader's language, or else in another; None without one."""
        languages = dict.fromkeys((_language(request), *(code for code, _ in settings.LANGUAGES)))
        pages = (self._pages.get(address_of(request, language)) for language in languages)
        page = next(filter(None, pages), None)
        if page is None:
            return None
        with translation.override(page.address.language):
            notice = render_to_string("kept_page.html", {"at": page.at}, using="jinja2")
        content = page.content.replace(PLACE, notice.encode(), 1)
        response = HttpResponse(content, content_type=page.headers["Content-Type"])
        response["Age"] = str(max(0, int(time.time() - page.at)))
        response["Cache-Control"] = "no-store"
        response.is_outage = True  # type: ignore[attr-defined]
        return response


def _unless_known(request: HttpRequest, page: KeptPage) -> HttpResponse:
    """Return the copy, or 304 if the client has the same."""
    validators = {name: value for name, value in page.headers.items() if name in _VALIDATORS}
    changed_at = parse_http_date_safe(validators["Last-Modified"]) if "Last-Modified" in validators else None
    response: HttpResponse | None = get_conditional_response(
        request, etag=validators.get("ETag"), last_modified=changed_at
    )
    if response is None:
        response = HttpResponse(page.content, content_type=page.headers["Content-Type"])
    for name, value in validators.items():
        response.headers[name] = value
    return response


def _language(request: HttpRequest) -> str:
    return str(getattr(request, "LANGUAGE_CODE", settings.LANGUAGE_CODE))
