"""Reading the member of a session: one plain query, because every page of a member needs it."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.db import connection

from accounts.models import HAS_PERMISSIONS, User

_FIELDS = User._meta.concrete_fields
_NAMES = [field.attname for field in _FIELDS]
_COLUMNS = ", ".join(str(field.column) for field in _FIELDS)
_MEMBER = f"SELECT {_COLUMNS}, {HAS_PERMISSIONS} FROM accounts_user WHERE id = %s"  # nosec B608 # noqa: S608 - our names


class MemberBackend(ModelBackend):
    """Django's backend, except that it reads members without the ORM, which takes longer than the query itself."""

    def get_user(self, user_id: int) -> User | None:
        """Return the active member with this id, and whether any permissions have to be looked up."""
        with connection.cursor() as cursor:
            cursor.execute(_MEMBER, [user_id])
            row = cursor.fetchone()
        if row is None:
            return None
        *values, has_permissions = row
        user: User = User.from_db(connection.alias, _NAMES, [*map(_read, _FIELDS, values)])
        user.has_permissions = bool(has_permissions)
        return user if self.user_can_authenticate(user) else None


def _read(field: Any, value: Any) -> Any:
    """Return a field's value: SQLite, for one, has neither booleans nor times."""
    for convert in connection.ops.get_db_converters(field.cached_col):
        value = convert(value, field.cached_col, connection)
    return value
