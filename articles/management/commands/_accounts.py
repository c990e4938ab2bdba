"""What the commands need of the accounts database."""

from django.core.management.base import CommandError
from django.db import DatabaseError, connection

from accounts.models import User


def require_accounts() -> None:
    """Raise CommandError when the accounts database cannot be used, or has no tables yet."""
    try:
        tables = connection.introspection.table_names()
    except DatabaseError as error:
        raise CommandError(f"The accounts database cannot be used: {error}") from error
    if User._meta.db_table not in tables:
        raise CommandError("The accounts database has no tables yet: run `manage.py migrate` first.")
