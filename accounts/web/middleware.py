"""Forms with stale tokens, and sessions that last as long as their member comes."""

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
from accounts.web.origin import comes_from_elsewhere

_STALE = (REASON_NO_CSRF_COOKIE, REASON_CSRF_TOKEN_MISSING, "CSRF token from POST", "CSRF cookie ")
"""How the reasons begin for which a form of this site may be sent again; none of them is a foreign origin."""


class FormTokenMiddleware(CsrfViewMiddleware):
    """Django's check, but a form of this site whose token is stale comes back to its member.

    Tokens change with each login, so forms in other tabs are stale after it. Such a POST is turned into a GET
    before the view runs: nothing can be done by it. Views take part by `pages.page_with_form` or
    `pages.form_action`. Any other view answers 403, and so does every view to a form sent from another site.
    """

    def _reject(self, request: HttpRequest, reason: str) -> HttpResponse | None:
        gives_back = request.resolver_match and hasattr(request.resolver_match.func, "gives_back")
        is_stale = request.method == "POST" and reason.startswith(_STALE) and not comes_from_elsewhere(request)
        if gives_back and is_stale:
            unsent_form.make_stale(request)
            return None
        refused: HttpResponse = super()._reject(request, reason)  # type: ignore[misc]
        return refused

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        """Nothing was done, so no page is a success; what follows sees the method that came."""
        if unsent_form.is_stale(request):
            request.method = "POST"
            if response.status_code == 200:
                response.status_code = 403
        return super().process_response(request, response)


_RENEWED = "renewed"


@receiver(user_logged_in)
def note_beginning(request: HttpRequest, **_: Any) -> None:
    """Note in a new session when its life began, in Unix seconds."""
    request.session[_RENEWED] = int(time.time())


class SessionRenewalMiddleware:
    """Begins the life of a member's session again once half of it has passed, so that daily visits never end it.

    Writes on no other request, and only where the view has read the session anyway.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Best effort: the page is shown even if the session has just ended or the database is busy."""
        response = self._get_response(request)
        session = request.session
        if session.accessed and not session.modified:
            try:
                self._renew(session)
            except (UpdateError, OperationalError, InterfaceError):
                session.modified = False  # else SessionMiddleware would save it and set the cookie
        return response

    def _renew(self, session: Any) -> None:
        now = int(time.time())
        is_old = session.get(_RENEWED, 0) <= now - settings.SESSION_COOKIE_AGE // 2
        if SESSION_KEY in session and is_old:
            session[_RENEWED] = now
            session.save()
