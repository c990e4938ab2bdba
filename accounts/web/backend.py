"""Reading the member of a session, which every page of a member needs: from memory, or by one plain query."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from django.contrib.auth import get_user
from django.contrib.auth.backends import ModelBackend
from django.db import DEFAULT_DB_ALIAS, connections
from django.http import HttpRequest

from accounts.models import HAS_PERMISSIONS, IS_SILENCING, User
from accounts.remembered import SessionStore

_FIELDS = User._meta.concrete_fields
_NAMES = [field.attname for field in _FIELDS]
_COLUMNS = ", ".join(str(field.column) for field in _FIELDS)
_KEPT = "conversions_of_members"
_FACTS = f"{HAS_PERMISSIONS}, {IS_SILENCING}"
_MEMBER = f"SELECT {_COLUMNS}, {_FACTS} FROM accounts_user WHERE id = %s"  # nosec B608 # noqa: S608 - our names


_session: ContextVar[Any] = ContextVar("session", default=None)
"""The session whose member is being read."""


def member_of(request: HttpRequest) -> Any:
    """Return the member of the request's session, or Django's AnonymousUser."""
    token = _session.set(request.session)
    try:
        return get_user(request)
    finally:
        _session.reset(token)


class MemberBackend(ModelBackend):
    """Django's backend, except that it reads members without the ORM, which takes longer than the query itself."""

    def get_user(self, user_id: int) -> User | None:
        """Return the active member with this id, with flags that spare most members further queries."""
        session = _session.get()
        row = _remembered(session, user_id) if isinstance(session, SessionStore) else _read(user_id)
        if row is None:
            return None
        *values, has_permissions, is_silencing = row
        user: User = User.from_db(DEFAULT_DB_ALIAS, _NAMES, values)
        user.has_permissions, user.is_silencing = bool(has_permissions), bool(is_silencing)
        return user if self.user_can_authenticate(user) else None


def _remembered(session: SessionStore, user_id: int) -> list[Any] | None:
    """Return the account's row as `_read` does; without a query if this process knows that it has not changed."""
    if row := session.find_row(user_id):
        return row
    stamp = session.stamp_of(user_id)  # before the row is read: see `accounts.remembered`
    row = _read(user_id)
    if row and stamp is not None:
        session.remember(user_id, stamp, row)
    return row


def _read(user_id: int) -> list[Any] | None:
    database = connections[DEFAULT_DB_ALIAS]
    with database.cursor() as cursor:
        cursor.execute(_MEMBER, [user_id])
        found = cursor.fetchone()
    if found is None:
        return None
    row = list(found)
    for n, column, convert in _conversions(database):
        row[n] = convert(row[n], column, database)
    return row


def _conversions(database: Any) -> list[tuple[int, Any, Callable[..., Any]]]:
    """Return which values are converted, and how: SQLite, for example, has neither booleans nor times.

    Kept with the database's operations, whose methods they are.
    """
    kept: list[tuple[int, Any, Callable[..., Any]]] | None = vars(database.ops).get(_KEPT)
    if kept is None:
        columns = enumerate(field.cached_col for field in _FIELDS)
        kept = [(n, column, f) for n, column in columns for f in database.ops.get_db_converters(column)]
        vars(database.ops)[_KEPT] = kept
    return kept
