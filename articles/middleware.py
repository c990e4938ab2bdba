"""Middleware for all views: HEAD requests, new notices, error pages, and the repository's errors as responses."""

import time
from collections.abc import Callable
from contextlib import ExitStack, suppress

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse

from accounts.passwords import HashesBusy
from articles.domain import errors
from articles.domain.members import UserId
from articles.domain.refusals import refusal_of
from articles.operation import ARRIVED_AT
from articles.repository import answer_within
from articles.text.refusals import action_sentence
from articles.web import error_pages as pages
from articles.web import limits
from articles.web.addresses import moved
from articles.web.identity import inbox_read_until, reader_id
from articles.web.preferences import IMPERSONAL
from articles.wiring import repository

_EXPLAINED = (405, 413, 429)
"""Statuses of responses that have no page yet: wrong method, too large a request, too many requests."""

_LONGEST_WAIT = 1.8
"""Times STORE_TIMEOUT_MS: so a vote that waits for a thread behind a page is answered within 1.5 s by default."""

_SHORTEST_WAIT = 0.4
"""Times STORE_TIMEOUT_MS, for a page that has waited for a thread: a working store takes much less."""

Answer = Callable[[HttpRequest], HttpResponse]


class HeadMiddleware:
    """Answer HEAD as GET, with the same Content-Length, but without the body."""

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        if request.method == "HEAD" and not response.streaming:
            length = len(response.content)
            response.content = b""
            response["Content-Length"] = str(length)
        return response


class StoreDeadlineMiddleware:
    """Limit the total time for which a page waits for the store.

    A change is one script, which has its own limit.
    """

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.method not in ("GET", "HEAD"):
            return self._get_response(request)
        with answer_within(self._seconds_left(request)):
            return self._get_response(request)

    @staticmethod
    def _seconds_left(request: HttpRequest) -> float:
        now, timeout = time.monotonic(), float(settings.STORE_TIMEOUT_MS) / 1000
        waited = now - float(request.META.get(ARRIVED_AT, now))
        return max(_SHORTEST_WAIT * timeout, _LONGEST_WAIT * timeout - waited)


class InboxMiddleware:
    """Let a member's pages count new notices on the way to the store: `request.unread`. Makes no round trip."""

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with ExitStack() as riding:
            if member := _member_reading(request):
                with suppress(errors.StoreError):  # the page says so
                    counting = repository().inbox.counting(member, inbox_read_until(request))
                    vars(request)["unread"] = riding.enter_context(counting)
            return self._get_response(request)


def _member_reading(request: HttpRequest) -> UserId | None:
    """Return the member who reads a page, if any; reads the account only where LanguageMiddleware does."""
    if request.method not in ("GET", "HEAD") or settings.SESSION_COOKIE_NAME not in request.COOKIES:
        return None
    try:
        return None if request.path.startswith(IMPERSONAL) else reader_id(request)
    except (InterfaceError, OperationalError):  # the view fails too, and answers with its own error
        return None


class ErrorPagesMiddleware:
    """Add the error page to a response that has only a status; its headers stay."""

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self._get_response(request)
        if response.status_code in _EXPLAINED and not response.streaming and not response.content:
            page = pages.page(request, response.status_code)
            response.content = page.content
            response["Content-Type"] = page["Content-Type"]
        return response


class StoreErrorsMiddleware:
    """Turn errors of the repository into responses: 404 for what does not exist, 503 while it is unavailable."""

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self._get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        match exception:
            case errors.GroupNotFound(moved_to=str(into)):
                return moved(reverse("articles:group", args=[into]), request.META.get("QUERY_STRING", ""))
            case errors.PageTooDeep() | errors.Banned():
                context = {
                    "explained": action_sentence(exception, has_button=True),
                    "is_banned": isinstance(exception, errors.Banned),
                }
                return pages.page(request, refusal_of(exception).http, context)
            case errors.LimitReached() | HashesBusy():
                return limits.refusal(request, exception)
            case errors.ArticlesError():
                return _refused(request, exception)
            case _ if isinstance(exception, pages.ACCOUNTS_AWAY):
                return pages.unavailable(request, exception)
        return None


def _refused(request: HttpRequest, error: errors.ArticlesError) -> HttpResponse | None:
    """Return the error page of a refusal; None for one that its view has to answer itself."""
    match refusal_of(error).http:
        case 404:
            raise Http404(str(error)) from error
        case 403:
            return pages.page(request, 403, {"explained": action_sentence(error)})
        case 503:
            return pages.unavailable(request, error)
    return None
