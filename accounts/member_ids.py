"""Ids of new accounts. Other apps keep data under them, so they tell which are free.

Without them, ids follow the highest one of the accounts database.
"""

from collections.abc import Callable

from django.apps import apps
from django.db import connection, models

Reserve = Callable[[int, int], int]
"""Called with the highest id of the database and a number of ids; returns the first of as many unused ids."""

Note = Callable[[int], None]
"""Called with the highest id of accounts that have been created. Best-effort: raises nothing."""


def _next(highest: int, _count: int) -> int:
    return highest + 1


def _ignore(_highest: int) -> None:
    return


_reserve: Reserve = _next
_note: Note = _ignore


def reserve_with(reserve: Reserve, note: Note) -> None:
    """Register who gives out ids."""
    global _reserve, _note
    _reserve, _note = reserve, note


def reserve(count: int = 1) -> int:
    """Return the first of `count` ids that no account has had. Raises what the registered function raises."""
    return _reserve(highest(), count)


def note(user_id: int) -> None:
    """Report that an account exists, after the commit."""
    _note(user_id)


def highest() -> int:
    """Return the highest id that the accounts database has given out; 0 for an empty one."""
    user = apps.get_model("accounts", "User")
    top = int(user.objects.aggregate(top=models.Max("pk"))["top"] or 0)
    if connection.vendor != "sqlite":
        return top
    with connection.cursor() as cursor:
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [user._meta.db_table])
        row = cursor.fetchone()
    return max(top, int(row[0]) if row else 0)
