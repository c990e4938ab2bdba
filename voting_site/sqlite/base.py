"""The backend that `configuration/service_urls.py` selects for SQLite.

A damaged file is a database that cannot be used, as a locked one is: readers see that the accounts are away.
"""

import sqlite3
from typing import Any

from django.db.backends.sqlite3 import base
from django.db.utils import DatabaseErrorWrapper, OperationalError
from django.utils.functional import cached_property


class _ErrorWrapper(DatabaseErrorWrapper):
    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        if exc_type is sqlite3.DatabaseError:  # "malformed", "not a database"; other faults have subclasses
            raise OperationalError(*exc_value.args).with_traceback(traceback) from exc_value
        super().__exit__(exc_type, exc_value, traceback)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's connection, whose errors of a damaged file are operational."""

    @cached_property
    def wrap_database_errors(self) -> _ErrorWrapper:
        return _ErrorWrapper(self)
