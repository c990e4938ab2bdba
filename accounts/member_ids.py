"""Ids of new accounts. The core keeps data under them, and gives them out: see `articles.web.account_ids`."""

from collections.abc import Callable

from django.apps import apps
from django.db import connection, models

reserve: Callable[..., int]
"""Returns the first of so many ids, by default one, that no account has had. Set by the articles app."""

note: Callable[[int], None]
"""Reports that an account exists, after the commit. Best-effort: raises nothing. Set by the articles app."""


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
