"""Reading the member of a session, which every page of a member needs: from memory, or by one plain query."""

from contextvars import ContextVar
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import AnonymousUser
from django.db import DEFAULT_DB_ALIAS
from django.http import HttpRequest

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
