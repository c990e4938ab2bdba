"""The site's middleware around views: what is decided once for a request, from the outside to the inside.

`PagesMiddleware` is outside whatever needs the store or makes responses vary, `ReaderMiddleware` follows Django's
session and authentication, `ViewsMiddleware` is the innermost. docs/architecture.md lists all middleware.
"""

import time
from binascii import a2b_qp
from collections.abc import Callable
from contextlib import ExitStack, nullcontext, suppress
from typing import Any
from urllib.parse import unquote_to_bytes

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import BadRequest, RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, UnreadablePostError
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import translation
from django.utils.cache import patch_vary_headers

from accounts.passwords import HashesBusy
from accounts.web.backend import member_of
from articles.api.protocol.envelope import accounts_away, in_words, is_for_programs, login_first, too_many
from articles.configuration import choices
from articles.configuration.choices import chosen
from articles.domain import errors
from articles.domain.lists import without_groups
from articles.domain.refusals import refusal_of
from articles.operation import ARRIVED_AT
from articles.repository import answer_within
from articles.text.refusals import action_sentence
from articles.web import caching, error_pages as pages, extras, limits, reading
from articles.web.addresses import moved
from articles.web.wiring import repository

Answer = Callable[[HttpRequest], HttpResponse]

_READS = ("GET", "HEAD")
_LONGEST_WAIT = 1.8
"""Times STORE_TIMEOUT_MS: so a vote that waits for a thread behind a page is answered within 1.5 s by default."""

_SHORTEST_WAIT = 0.4
"""Times STORE_TIMEOUT_MS, for a page that has waited for a thread: a working store takes much less."""


class PagesMiddleware:
    """Limit the time for which a page waits for the store, set cache headers, and say failures in an API's words.

    A change is one script, which has its own limit.
    """

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with answer_within(_seconds_left(request)) if request.method in _READS else nullcontext():
            answer = extras.answer_for_host(request) if settings.HOSTS_OF_EXTRAS else None
            response = answer or self._get_response(request)
        response = caching.with_cache_headers(request, response)
        return in_words(request, response) if response.status_code >= 400 else response


def _seconds_left(request: HttpRequest) -> float:
    now, timeout = time.monotonic(), float(settings.STORE_TIMEOUT_MS) / 1000
    waited = now - float(request.META.get(ARRIVED_AT, now))
    return max(_SHORTEST_WAIT * timeout, _LONGEST_WAIT * timeout - waited)


_IMPERSONAL = ("/feeds/", "/healthz", "/readyz", "/metrics", "/robots.txt", "/sitemap.xml", "/sitemap-")
"""Addresses that never read the session: there, only cookie and browser decide on the language."""


class ReaderMiddleware:
    """Find the member who asks, activate their language, and let their pages count new notices.

    The language is the member's; without a setting the cookie's or the browser's, as in Django's LocaleMiddleware.
    The account is read only for requests with a session cookie, as pages do anyway. `request.unread` is counted on
    the way to the store, without a round trip of its own.
    """

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        _activate(translation.get_language_from_request(request))
        member = _member(request)
        if member and member.language:
            _activate(member.language)
        request.LANGUAGE_CODE = translation.get_language()
        with ExitStack() as riding:
            if member is None and (closed := choices.closed_groups()):
                riding.enter_context(without_groups(closed))
            if member and request.method in _READS:
                with suppress(errors.StoreError):  # the page says so
                    counting = repository().inbox.counting(member.pk, member.inbox_read_until)
                    vars(request)["unread"] = riding.enter_context(counting)
            response = self._get_response(request)
        patch_vary_headers(response, ("Accept-Language", "Cookie"))
        response.headers.setdefault("Content-Language", translation.get_language() or chosen.language)
        return response


def _activate(language: str) -> None:
    """Activate a language, or the site's own if it is not offered."""
    translation.activate(language if language in chosen.SITE_LANGUAGES else chosen.language)


def _member(request: HttpRequest) -> Any:
    """Return the member who is logged in; None if there is none, or if the accounts' database is unavailable."""
    if request.path.startswith(_IMPERSONAL):
        return None
    if settings.SESSION_COOKIE_NAME not in request.COOKIES:
        request.user = AnonymousUser()  # as below: not lazy
        return None
    try:
        request.user = member_of(request)  # not lazy: pages read a hundred of its attributes
    except (OperationalError, InterfaceError):  # the view fails too, and answers with its own error
        return None
    return request.user if request.user.is_authenticated else None


_EXPLAINED = (405, 413, 429)
"""Statuses of responses that have no page yet: wrong method, too large a request, too many requests."""


class ViewsMiddleware:
    """Refuse what no view can read, who may not read, and what is beyond a limit; answer errors with pages."""

    def __init__(self, get_response: Answer) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Raise RequestDataTooBig or BadRequest, which the site's handlers answer with 413 and 400."""
        response = _refuse_unreadable(request) or self._get_response(request)
        if response.status_code in _EXPLAINED and not response.streaming and not response.content:
            page = pages.page(request, response.status_code)  # the other headers stay
            response.content = page.content
            response["Content-Type"] = page["Content-Type"]
        if (key := vars(request).get("feed_key")) and "Location" in response.headers:
            place = response.headers["Location"]  # the present address of a feed
            response.headers["Location"] = f"{place}{'&' if '?' in place else '?'}{reading.KEY}={key}"
        return response

    def process_view(self, request: HttpRequest, view: Answer, *_arguments: Any) -> HttpResponse | None:
        return _refuse_reader(request, view) or limits.refuse(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Answer errors of the repository: 404 for what does not exist, 503 while it is unavailable."""
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


def _refuse_reader(request: HttpRequest, view: Answer) -> HttpResponse | None:
    """Ask for a login on a site for members, before the view and any work of the store."""
    if not chosen.is_for_members:
        return None
    try:
        return login_first(request) if is_for_programs(request) else reading.refuse(request, view)
    except pages.ACCOUNTS_AWAY as error:
        return accounts_away(request, error)


def _refused(request: HttpRequest, error: errors.ArticlesError) -> HttpResponse | None:
    """Return the error page of a refusal; None for one that its view has to answer itself."""
    match refusal_of(error).http:
        case 404:
            raise Http404(str(error)) from error
        case 403:
            return pages.page(request, 403, {"explained": action_sentence(error)})
        case 409 if isinstance(error, errors.ArticleMerged) and (place := request.resolver_match):
            if request.method == "POST":
                messages.error(request, action_sentence(error))
            article = place.kwargs.get("article_id")
            return None if article is None else redirect("articles:article", article)
        case 503:
            return pages.unavailable(request, error)
    return None


_URL_ENCODED, _MULTIPART = "application/x-www-form-urlencoded", "multipart/form-data"
_LARGE_BYTES = 100_000  # bodies up to this size are decoded in some 40 ms, whatever they contain
_LENGTH_DIGITS = 18  # digits of a length that are read: Python refuses to read thousands of them
_REPLACEMENT = "\ufffd"  # what Django decodes an invalid byte to. Members can also type it


def _refuse_unreadable(request: HttpRequest) -> HttpResponse | None:
    """Refuse a body that is longer than its address accepts, by its length alone, and text that is not UTF-8.

    Django replaces invalid bytes, so that they would be stored as other text. The API's own parser is strict.
    """
    if _length_of(request) > _LARGE_BYTES:
        try:
            limits.take_large(request)
        except errors.LimitReached as reached:
            return too_many(request, reached)
    if query := request.META.get("QUERY_STRING"):
        _check_utf8(query.encode("latin-1", "replace"))
    if request.method == "POST" and request.content_type in (_URL_ENCODED, _MULTIPART):
        _check_form(request)
    return None


def _length_of(request: HttpRequest) -> int:
    """Return the length of the body in bytes. Raises RequestDataTooBig."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if length.isdecimal() and len(length) <= _LENGTH_DIGITS:
        most = settings.FORM_MAX_BYTES
        if int(length) > most and is_for_programs(request):
            most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        if int(length) <= most:
            return int(length)
    raise RequestDataTooBig(f"a body of {length[:20]} bytes")


def _check_utf8(encoded: bytes) -> None:
    """Raise BadRequest for bytes that are not UTF-8, percent-encoded or not."""
    try:
        _unquoted(encoded).decode()
    except UnicodeDecodeError as error:
        raise BadRequest("text that is not UTF-8") from error


def _unquoted(encoded: bytes) -> bytes:
    """Return the bytes decoded, with other signs for "=" and "%": as quoted-printable, which is fast."""
    if b"\n" in encoded or b"\r" in encoded:  # these have a meaning there
        return unquote_to_bytes(encoded)
    for _ in range(2):  # so that no sign of an escape follows another one
        encoded = encoded.replace(b"%%", b"%25%")
    return a2b_qp(encoded.replace(b"=", b"&").replace(b"%", b"="))


def _check_form(request: HttpRequest) -> None:
    charset = (request.content_params or {}).get("charset", "utf-8").lower()
    if charset not in ("utf-8", "utf8"):
        raise BadRequest(f"a form in {charset[:20]}")
    try:
        body = request.body
    except UnreadablePostError as error:
        raise BadRequest("a form that ended early") from error
    if request.content_type == _URL_ENCODED:
        _check_utf8(body)
    else:
        _check_multipart(request, body)


def _check_multipart(request: HttpRequest, body: bytes) -> None:
    """Raise BadRequest if a field is not UTF-8, even inside base64, which some clients use."""
    try:
        is_typed = _REPLACEMENT in body.decode()
    except UnicodeDecodeError as error:
        raise BadRequest("a form that is not UTF-8") from error
    texts = (text for name, values in request.POST.lists() for text in (name, *values))
    if not is_typed and any(_REPLACEMENT in str(text) for text in texts):
        raise BadRequest("a field that is not UTF-8")
