"""Rows that most requests read, without Django's ORM, which takes longer than the query itself."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Field, Model

_KEPT = "conversions_of_plain_queries"


class PlainQuery:
    """A query for at most one row of a model, with `more` columns that are not converted."""

    def __init__(self, model: type[Model], where: str, more: str = "") -> None:
        """`where` has one parameter, `%s`."""
        self._fields: Sequence[Field[Any, Any]] = model._meta.concrete_fields
        columns = ", ".join([*(str(field.column) for field in self._fields), *([more] if more else [])])
        self._sql = f"SELECT {columns} FROM {model._meta.db_table} WHERE {where}"  # nosec B608 # noqa: S608 - our names
        self.names = [field.attname for field in self._fields]  # attributes of the model, in the order of the row

    def read(self, value: int | str) -> list[Any] | None:
        """Return the row; None if there is none."""
        database = connections[DEFAULT_DB_ALIAS]
        with database.cursor() as cursor:
            cursor.execute(self._sql, [value])
            found = cursor.fetchone()
        if found is None:
            return None
        row = list(found)
        for n, column, convert in self._conversions(database):
            row[n] = convert(row[n], column, database)
        return row

    def _conversions(self, database: Any) -> list[tuple[int, Any, Callable[..., Any]]]:
        """Return which values are converted, and how: SQLite has neither booleans nor times."""
        kept = vars(database.ops).setdefault(_KEPT, {})
        if self not in kept:
            columns = enumerate(field.cached_col for field in self._fields)
            kept[self] = [(n, column, f) for n, column in columns for f in database.ops.get_db_converters(column)]
        found: list[tuple[int, Any, Callable[..., Any]]] = kept[self]
        return found
