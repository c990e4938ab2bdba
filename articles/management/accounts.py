"""Checks of the accounts database for commands."""

from django.core.management.base import CommandError
from django.db import Error as DatabaseError
from django.db import connection

from accounts.models import User
from articles.management.sentences import NO_TABLES, about_accounts


def require_accounts() -> None:
    """Raise CommandError if the accounts database cannot be used or has no tables yet."""
    try:
        tables = connection.introspection.table_names()
    except DatabaseError as error:
        raise CommandError(about_accounts(error)) from error
    if User._meta.db_table not in tables:
        raise CommandError(NO_TABLES)
