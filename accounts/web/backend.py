"""Reading the member of a session: one plain query, because every page of a member needs it."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.db import DEFAULT_DB_ALIAS, connections

from accounts.models import HAS_PERMISSIONS, IS_SILENCING, User

_FIELDS = User._meta.concrete_fields
_NAMES = [field.attname for field in _FIELDS]
_COLUMNS = ", ".join(str(field.column) for field in _FIELDS)
_KEPT = "conversions_of_members"
_FACTS = f"{HAS_PERMISSIONS}, {IS_SILENCING}"
_MEMBER = f"SELECT {_COLUMNS}, {_FACTS} FROM accounts_user WHERE id = %s"  # nosec B608 # noqa: S608 - our names


class MemberBackend(ModelBackend):
    """Django's backend, except that it reads members without the ORM, which takes longer than the query itself."""

    def get_user(self, user_id: int) -> User | None:
        """Return the active member with this id, with flags that spare most members further queries."""
        database = connections[DEFAULT_DB_ALIAS]
        with database.cursor() as cursor:
            cursor.execute(_MEMBER, [user_id])
            row = cursor.fetchone()
        if row is None:
            return None
        *values, has_permissions, is_silencing = row
        for n, column, convert in _conversions(database):
            values[n] = convert(values[n], column, database)
        user: User = User.from_db(database.alias, _NAMES, values)
        user.has_permissions, user.is_silencing = bool(has_permissions), bool(is_silencing)
        return user if self.user_can_authenticate(user) else None


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
