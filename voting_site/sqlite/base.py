"""The backend that `configuration/service_urls.py` selects for SQLite.

A damaged file is a database that cannot be used, as a locked one is: readers see that the accounts are away. So
is a missing one: SQLite would create an empty file in its place.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db.backends.sqlite3 import base
from django.db.utils import DatabaseErrorWrapper, OperationalError
from django.utils.functional import cached_property

_creates = False


@contextmanager
def creating() -> Iterator[None]:
    """Let this process create a missing file inside of the block."""
    global _creates  # noqa: PLW0603 - it is about the whole process
    _creates, before = True, _creates
    try:
        yield
    finally:
        _creates = before


class _ErrorWrapper(DatabaseErrorWrapper):
    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        if exc_type is sqlite3.DatabaseError:  # "malformed", "not a database"; other faults have subclasses
            raise OperationalError(*exc_value.args).with_traceback(traceback) from exc_value
        super().__exit__(exc_type, exc_value, traceback)


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's connection, whose errors of a damaged file are operational, and which creates none."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        path = Path(conn_params["database"])
        if not _creates and path.is_absolute() and not path.exists():  # an address, `file:…`, says so itself
            raise sqlite3.OperationalError(f"there is no file {path}")
        return super().get_new_connection(conn_params)

    @cached_property
    def wrap_database_errors(self) -> _ErrorWrapper:
        return _ErrorWrapper(self)
