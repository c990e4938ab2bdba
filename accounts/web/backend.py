"""Members' sessions: renewing them, and reading their member, from memory or by one plain query."""

import time
from contextvars import ContextVar
from typing import Any

from django.conf import settings
from django.contrib.auth import SESSION_KEY, get_user
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.middleware import SessionMiddleware
from django.db import DEFAULT_DB_ALIAS, InterfaceError, OperationalError
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

from accounts.models.members import SUMMARIES, User
from accounts.plain_queries import PlainQuery
from accounts.remembered import SessionStore

_MEMBER = PlainQuery(User, "id = %s", ", ".join(expression for expression, _convert in SUMMARIES.values()))

_session: ContextVar[Any] = ContextVar("session", default=None)  # the session whose member is being read


def member_of(request: HttpRequest) -> Any:
    """Return the member of the request's session, or Django's AnonymousUser.

    A session of a member who has yet to set up a second factor does not count: the next login asks for one.
    """
    token = _session.set(request.session)
    try:
        member = get_user(request)
    finally:
        _session.reset(token)
    is_missing = member.is_authenticated and not member.second_factor and needs_second_factor(member)
    return AnonymousUser() if is_missing else member


def needs_second_factor(member: User) -> bool:
    """Return whether the site demands a second factor of the member."""
    return settings.SECOND_FACTOR == "all" or (settings.SECOND_FACTOR == "moderators" and member.is_moderator)


def offers_second_factor(member: User) -> bool:
    """Return whether the member can set up a second factor."""
    return settings.SECOND_FACTOR != "off" or member.second_factor


class MemberBackend(ModelBackend):
    """Django's backend, except that it reads members without the ORM, which takes longer than the query itself."""

    def authenticate(self, *args: Any, **kwargs: Any) -> Any:
        """Return the member with this name and password; None while the site takes no passwords."""
        return super().authenticate(*args, **kwargs) if settings.PASSWORDS else None

    def get_user(self, user_id: int) -> User | None:
        """Return the active member with this id, with flags that spare most members further queries."""
        session = _session.get()
        row = session.row_of(user_id, _MEMBER.read) if isinstance(session, SessionStore) else _MEMBER.read(user_id)
        if row is None:
            return None
        count = len(_MEMBER.names)
        user: User = User.from_db(DEFAULT_DB_ALIAS, _MEMBER.names, row[:count])
        for (name, (_expression, convert)), value in zip(
            SUMMARIES.items(), row[len(_MEMBER.names) :], strict=True
        ):
            setattr(user, name, convert(value))
        return user if self.user_can_authenticate(user) else None


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
