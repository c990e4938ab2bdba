"""The token of a page's forms, with a new mask for each page like Django's, in a tenth of the time.

Its middleware checks forms with stale tokens, and from which site a form was sent; the sessions' renews them.
"""

import secrets
import time
from operator import add
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import DisallowedHost
from django.db import InterfaceError, OperationalError
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import (
    CSRF_ALLOWED_CHARS,
    CSRF_SECRET_LENGTH,
    REASON_CSRF_TOKEN_MISSING,
    REASON_NO_CSRF_COOKIE,
    CsrfViewMiddleware,
    get_token,
)
from markupsafe import Markup

from accounts.web import unsent_form

_COOKIE = "CSRF_COOKIE"
_LETTERS = CSRF_ALLOWED_CHARS.encode()
_MANY = len(_LETTERS)

_NUMBERS = bytes(max(0, _LETTERS.find(byte)) for byte in range(256))  # translates letters to their numbers

_CYCLE = bytes(_LETTERS[byte % _MANY] for byte in range(256))
"""Translates numbers, and sums of two of them, to letters."""

_UNEVEN = bytes(range(256 // _MANY * _MANY, 256))
"""Random bytes that are left out, so that each letter is equally likely."""

_DRAWN = 2 * CSRF_SECRET_LENGTH


def form_token_input(request: HttpRequest) -> Markup:
    """Return the hidden input of `csrf_input`."""
    # A token is made of letters and digits.
    field = f'<input type="hidden" name="csrfmiddlewaretoken" value="{form_token(request)}">'
    return Markup(field)  # nosec B704 # noqa: S704


def form_token(request: HttpRequest) -> str:
    """Return the token as Django's `get_token` does; the response then sets or renews its cookie."""
    secret = request.META.get(_COOKIE)
    if secret is None or len(secret) != CSRF_SECRET_LENGTH:
        return str(get_token(request))
    request.META["CSRF_COOKIE_NEEDS_UPDATE"] = True
    return masked(secret)


def masked(secret: str) -> str:
    """Return a random mask, and the secret shifted by it."""
    mask = b""
    while len(mask) < CSRF_SECRET_LENGTH:
        mask += secrets.token_bytes(_DRAWN).translate(_CYCLE, _UNEVEN)
    mask = mask[:CSRF_SECRET_LENGTH]
    shifted = bytes(map(add, mask.translate(_NUMBERS), secret.encode().translate(_NUMBERS)))
    return (mask + shifted.translate(_CYCLE)).decode()


def comes_from_elsewhere(request: HttpRequest) -> bool:
    """Return whether the browser reports that the form is on another origin, including other subdomains.

    Browsers without Sec-Fetch-Site report it by the Origin header only.
    """
    if site := request.headers.get("Sec-Fetch-Site"):
        return site not in ("same-origin", "none")
    if (origin := request.headers.get("Origin")) is None:
        return False
    own = {request.get_host(), urlsplit(settings.SITE_URL).netloc} - {""}
    return origin.partition("://")[2] not in own


def is_elsewhere(request: HttpRequest) -> bool:
    """Return whether the browser reports that a page of another origin sent the request. Its host may be any."""
    if "HTTP_ORIGIN" not in request.META and "HTTP_SEC_FETCH_SITE" not in request.META:
        return False
    try:
        return comes_from_elsewhere(request)
    except DisallowedHost:  # refused further inside
        return True


_STALE = (REASON_NO_CSRF_COOKIE, REASON_CSRF_TOKEN_MISSING, "CSRF token from POST", "CSRF cookie ")
"""Prefixes of the rejection reasons after which a form may be sent again; none of them means a foreign origin."""


class FormTokenMiddleware(CsrfViewMiddleware):
    """Django's CSRF check, except that a form of this site with a stale token is returned to the reader.

    Tokens change with each login, so forms in other tabs become stale. Such a POST is turned into a GET before
    the view runs, so it changes nothing. Views opt in by `form_pages.page_with_form` or `form_pages.form_action`.
    Other views answer 403, and so does every view to a form sent from another site.
    """

    def _reject(self, request: HttpRequest, reason: str) -> HttpResponse | None:
        gives_back = request.resolver_match and hasattr(request.resolver_match.func, "gives_back")
        is_stale = request.method == "POST" and reason.startswith(_STALE) and not comes_from_elsewhere(request)
        if gives_back and is_stale:
            unsent_form.make_stale(request)
            return None
        rejection: HttpResponse = super()._reject(request, reason)  # type: ignore[misc]
        return rejection

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        """Answer a stale form with 403, because nothing was changed, and restore the request's method.

        A member's browser keeps the cookie that it has, for a year. After that, the next page sets another one.
        """
        if unsent_form.is_stale(request):
            request.method = "POST"
            if response.status_code == 200:
                response.status_code = 403
        cookies, secret = request.COOKIES, request.META.get(_COOKIE)
        if settings.SESSION_COOKIE_NAME in cookies and cookies.get(settings.CSRF_COOKIE_NAME) == secret:
            request.META["CSRF_COOKIE_NEEDS_UPDATE"] = False
        return super().process_response(request, response)


_RENEWED, _BEGUN = "renewed", "begun"

LONGEST_SESSION_SECONDS = 365 * 86400
"""Time after a login when its session is renewed no more, however often the member visits."""


@receiver(user_logged_in)
def record_session_start(request: HttpRequest, **_: Any) -> None:
    """Record in a new session when its lifetime began, in Unix seconds."""
    request.session[_RENEWED] = request.session[_BEGUN] = int(time.time())


class RenewedSessionMiddleware(SessionMiddleware):
    """Django's sessions, renewed after half of their lifetime, so that none expires between regular visits.

    Other requests write nothing. Requests whose view does not read the session are skipped.
    """

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Renew on a best-effort basis: an ended session or a busy database does not fail the request."""
        session = request.session
        if session.accessed and not session.modified:
            try:
                self._renew(session)
            except (UpdateError, OperationalError, InterfaceError):
                session.modified = False  # otherwise Django saves it and sets the cookie
        return super().process_response(request, response)

    def _renew(self, session: Any) -> None:
        now = int(time.time())
        is_old = session.get(_RENEWED, 0) <= now - settings.SESSION_COOKIE_AGE // 2
        if SESSION_KEY in session and is_old and session.setdefault(_BEGUN, now) > now - LONGEST_SESSION_SECONDS:
            session[_RENEWED] = now
            session.save()
