"""Tables of anything else as CSV or JSON lines, with a mapping: which column is which field of a staging table.

A mapping is TOML or JSON, as README.md describes it. CSV is UTF-8 with a line of names.
"""

import csv
import json
import tomllib
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from extras.moving_in.sources import BadSource, Format, rows as shared
from extras.moving_in.sources.rows import BadRow, Rows, files_of, is_time, markdown, objects, seconds
from extras.moving_in.staging import COLUMNS, Staging

_UNITS = {"s": 1, "ms": 1000}


class _Part(NamedTuple):
    """What rows of some files become."""

    table: str
    fields: Mapping[str, Mapping[str, Any]]
    """By field: `column` or `value`, and how it is read."""

    files: str
    where: Mapping[str, Any]
    delimiter: str

    def stage(self, rows: Rows, row: Mapping[str, Any]) -> None:
        """Add a row of the source, unless it is of another kind. Raises BadRow."""
        if any(str(_column(row, name)) != str(value) for name, value in self.where.items()):
            return
        values = {name: _value(name, one, row) for name, one in self.fields.items()}
        tags = _tags(values.pop("tags", None), self.fields.get("tags", {}))
        if self.table in ("article", "comment"):
            rows.post(self.table, tags, **values)
        else:
            rows.add(self.table, replaces=self.table == "member", **values)


def _part(table: object, files: str = "*", where: Any = None, delimiter: str = "", **given: Any) -> _Part:
    """Return one of a mapping's `rows`. Raises BadSource."""
    if table not in COLUMNS or table == "bad":
        raise BadSource(f"The mapping has no table {table!r}; tables are {', '.join(COLUMNS)}.")
    if not (isinstance(files, str) and isinstance(delimiter, str) and isinstance(where or {}, dict)):
        raise BadSource("In the mapping, `files` and `delimiter` are texts, and `where` is a table.")
    fields = {name: {"column": one} if isinstance(one, str) else one for name, one in given.items()}
    for name, one in fields.items():
        if name not in COLUMNS[str(table)] and (table, name) != ("article", "tags"):
            columns = ", ".join(COLUMNS[str(table)])
            raise BadSource(f"The mapping has a field {name!r}; {table} has {columns}.")
        is_one = isinstance(one, dict) and ("column" in one) != ("value" in one)
        if not is_one or not isinstance(one.get("column", ""), str) or one.get("unit", "s") not in [*_UNITS]:
            raise BadSource(f"The mapping does not say what {table}.{name} is: a column, or a value.")
    return _Part(str(table), fields, files, where or {}, delimiter)


def fill(source: str, staging: Staging, options: Mapping[str, Any], reach: Callable[[int], object]) -> None:
    parts, rows = _mapping(options.get("mapping")), Rows(staging, reach)
    for path in files_of(source):
        name = path.name.removesuffix(".gz").removesuffix(".zst")
        mine = [part for part in parts if fnmatch(name, part.files) or fnmatch(path.name, part.files)]
        if not mine or str(path) == str(options.get("mapping")):
            continue
        read = objects(path)
        if name.endswith((".csv", ".tsv")):
            needed = [one["column"] for part in mine for one in part.fields.values() if "column" in one]
            read = _table(path, mine[0].delimiter or ("\t" if name.endswith(".tsv") else ","), needed)
        rows.read(read, partial(_stage, rows, mine))
    rows.settle()


def _stage(rows: Rows, parts: Iterable[_Part], row: Mapping[str, Any]) -> None:
    for part in parts:
        part.stage(rows, row)


def _mapping(path: str | None) -> list[_Part]:
    if not path:
        raise BadSource("Give a mapping: --mapping FILE.toml says which column is what.")
    try:
        text = Path(path).read_text("utf-8-sig")
        return [_part(**one) for one in (json if path.endswith(".json") else tomllib).loads(text)["rows"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadSource(f"The mapping {path!r} cannot be read: {error}") from error


def _table(path: Path, delimiter: str, needed: Iterable[str]) -> Iterator[tuple[str, "dict[str, Any] | BadRow"]]:
    """Yield the rows of a CSV file by their columns, with their places. Raises BadSource."""
    csv.field_size_limit(shared.LONGEST_LINE // 2)  # an open quotation mark ends at a line that was cut
    try:
        decoded = (line.decode("utf-8", "surrogateescape") for _, line in shared.lines(path))
        reader = csv.reader(decoded, delimiter=delimiter)
        names = next(reader, [])
    except (csv.Error, TypeError) as error:
        raise BadSource(f"{path.name} has no line of names: {error}") from error
    if missing := [name for name in needed if name not in names]:
        raise BadSource(f"{path.name} has no column {missing[0]!r}; its columns are {', '.join(names)[:500]}.")
    while True:
        place = f"{path.name}:{reader.line_num + 1}"
        try:
            values = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield place, BadRow(f"The row is not CSV: {error}.")
            continue
        if len(values) not in (0, len(names)):
            yield place, BadRow(f"The row has {len(values)} fields instead of {len(names)}.")
        elif any("\udc80" <= char <= "\udcff" for value in values if not value.isascii() for char in value):
            yield place, BadRow("The row is not UTF-8 text.")
        elif values:
            yield place, {name: value or None for name, value in zip(names, values, strict=True)}


def _column(row: Any, name: str) -> Any:
    if isinstance(row, dict) and name in row:
        return row[name]
    for part in name.split("."):
        row = row.get(part) if isinstance(row, dict) else None
    return row


def _value(name: str, how: Mapping[str, Any], row: Mapping[str, Any]) -> Any:
    value = how["value"] if "value" in how else _column(row, how["column"])
    if name != "tags" and is_time(name):
        return _moment(value, _UNITS[how.get("unit", "s")])
    return markdown(value) if how.get("form") == "html" else value


def _moment(value: Any, unit: int) -> Any:
    """Return a time as Unix seconds: a number of which `unit` are one, or ISO 8601. Raises BadRow."""
    if isinstance(value, str):
        try:
            value = float(value[:40])
        except ValueError:
            if (at := seconds(value)) is None:
                raise BadRow("The time is neither a number nor ISO 8601.") from None
            return at
    return value / unit if isinstance(value, float | int) and abs(value) < 2**63 else value


def _tags(value: Any, how: Mapping[str, Any]) -> list[str]:
    parts = value.split(how.get("separator") or ",") if isinstance(value, str) else value or []
    if not isinstance(parts, list) or not all(isinstance(one, str) for one in parts):
        raise BadRow("The tags are not text.")
    return [one.strip() for one in parts if one.strip()]


def _arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--mapping", metavar="FILE", help="lines: which column is which field, as TOML or JSON")


FORMAT = Format(fill, arguments=_arguments)
