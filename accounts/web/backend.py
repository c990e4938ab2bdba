"""Reading the member of a session: one plain query, because every page of a member needs it."""

from functools import cache

from django.contrib.auth.backends import ModelBackend
from django.db import connection

from accounts.models import HAS_PERMISSIONS, IS_SILENCING, User

_FIELDS = User._meta.concrete_fields
_NAMES = [field.attname for field in _FIELDS]
_COLUMNS = ", ".join(str(field.column) for field in _FIELDS)
_FACTS = f"{HAS_PERMISSIONS}, {IS_SILENCING}"
_MEMBER = f"SELECT {_COLUMNS}, {_FACTS} FROM accounts_user WHERE id = %s"  # nosec B608 # noqa: S608 - our names


class MemberBackend(ModelBackend):
    """Django's backend, except that it reads members without the ORM, which takes longer than the query itself."""

    def get_user(self, user_id: int) -> User | None:
        """Return the active member with this id, and whether what few members have takes further queries."""
        with connection.cursor() as cursor:
            cursor.execute(_MEMBER, [user_id])
            row = cursor.fetchone()
        if row is None:
            return None
        *values, has_permissions, is_silencing = row
        for n in _converted(connection.vendor):
            for convert in connection.ops.get_db_converters(_FIELDS[n].cached_col):
                values[n] = convert(values[n], _FIELDS[n].cached_col, connection)
        user: User = User.from_db(connection.alias, _NAMES, values)
        user.has_permissions, user.is_silencing = bool(has_permissions), bool(is_silencing)
        return user if self.user_can_authenticate(user) else None


@cache
def _converted(_vendor: str) -> list[int]:
    """Return the fields whose values have to be converted: SQLite, for one, has neither booleans nor times."""
    return [n for n, field in enumerate(_FIELDS) if connection.ops.get_db_converters(field.cached_col)]
