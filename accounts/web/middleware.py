"""Middleware for forms with stale tokens, and for renewing sessions."""

import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends.base import UpdateError
from django.db import InterfaceError, OperationalError
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import REASON_CSRF_TOKEN_MISSING, REASON_NO_CSRF_COOKIE, CsrfViewMiddleware

from accounts.web import unsent_form
from accounts.web.form_token import comes_from_elsewhere

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
        """Answer a stale form with 403, because nothing was changed, and restore the request's method."""
        if unsent_form.is_stale(request):
            request.method = "POST"
            if response.status_code == 200:
                response.status_code = 403
        return super().process_response(request, response)


_RENEWED = "renewed"


@receiver(user_logged_in)
def record_session_start(request: HttpRequest, **_: Any) -> None:
    """Record in a new session when its lifetime began, in Unix seconds."""
    request.session[_RENEWED] = int(time.time())


class SessionRenewalMiddleware:
    """Renew a member's session after half of its lifetime, so that it does not expire between regular visits.

    Other requests write nothing. Requests whose view does not read the session are skipped.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Renew on a best-effort basis: an ended session or a busy database does not fail the request."""
        response = self._get_response(request)
        session = request.session
        if session.accessed and not session.modified:
            try:
                self._renew(session)
            except (UpdateError, OperationalError, InterfaceError):
                session.modified = False  # otherwise SessionMiddleware saves it and sets the cookie
        return response

    def _renew(self, session: Any) -> None:
        now = int(time.time())
        is_old = session.get(_RENEWED, 0) <= now - settings.SESSION_COOKIE_AGE // 2
        if SESSION_KEY in session and is_old:
            session[_RENEWED] = now
            session.save()
