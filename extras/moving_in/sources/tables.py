"""The database of another site as SQLite tables: its SQLite file, its dump, or what its server answers.

A dump is what mariadb-dump, mysqldump, pg_dump and pg_dumpall write, plain or packed by gzip or zstd. It needs no
server, and is read once; what is not wanted is not stored. Versions differ: a column that a source lacks is NULL.
"""

import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, TypeAlias

import psycopg

from extras.moving_in.sources import BadSource
from extras.moving_in.sources.rows import Rows, file_of, lines, seconds

Wanted: TypeAlias = Mapping[str, str]
"""Columns by table, as SQLite declares them."""

_Parts: TypeAlias = Iterable[tuple[str, Sequence[str], Iterable[Sequence[str | None]]]]
"""Parts of a source: a table, its columns, and rows of it."""

_SQLITE, _CUSTOM = b"SQLite format 3\x00", b"PGDMP"
_LONGEST, _MOST_COLUMNS = 32_000_000, 5_000  # bytes of a line of a dump: servers write one of 16 MB at most
_COPY = re.compile(r'COPY (?:"?\w+"?\.)?"?(\w+)"? \((.*)\) FROM stdin;')
_CREATE, _COLUMN = re.compile(r"CREATE TABLE `(\w+)`"), re.compile(r"\s+`(\w+)`")
_INSERT = re.compile(r"INSERT (?:IGNORE )?INTO `(\w+)` *(?:\(([^)]*)\) *)?VALUES")
# No part of it tries what another took: a line without an end takes no more time than any other.
_VALUE = re.compile(
    r"[\s(]*+(?:(?:_\w+ ?|[bx])?'([^'\\]*+(?:(?:\\.|'')[^'\\]*+)*+)'|([^',()]++))\s*+([,)])", re.DOTALL
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_CONTROLS = {"0": "\0", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "Z": "\x1a"}


def truth(value: str | int | None) -> int:
    """Return 1 or 0, as the databases say it: 1, `t`, or `true`."""
    return int(str(value) in ("1", "t", "true", "True", "\x01"))


def create(db: sqlite3.Connection, wanted: Wanted) -> None:
    for table, columns in wanted.items():
        db.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns})")


@contextmanager
def opened(
    source: str, wanted: Wanted, needed: Sequence[str], reach: Callable[[int], object]
) -> Iterator[sqlite3.Connection]:
    """Yield a database with what is wanted of a source; in its SQL, `unix` is `seconds` and `truth` is `truth`.

    Calls `reach` while it reads a dump, which can end it. Raises BadSource.
    """
    try:
        with closing(connected()) as db:
            db.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN")
            create(db, wanted)
            found = set()
            for table, columns, rows in _parts(source, wanted, reach):
                if names := [name for name in _names(wanted[table]) if name in columns]:
                    found.add(table)
                    places, marks = [columns.index(name) for name in names], ", ".join("?" * len(names))
                    line = f"INSERT OR IGNORE INTO {table} ({', '.join(names)}) VALUES ({marks})"  # noqa: S608 # nosec B608 - our names
                    try:
                        db.executemany(line, ([row[place] for place in places] for row in rows))
                    except IndexError:
                        raise BadSource(f"A row of the table {table!r} has too few values.") from None
            db.execute("COMMIT")
            if missing := [table for table in needed if table not in found]:
                raise BadSource(f"There is no table {missing[0]!r} in {source.rpartition('@')[2]!r}.")
            yield db
    except (OSError, sqlite3.DatabaseError, psycopg.Error, OverflowError) as error:
        raise BadSource(f"The source cannot be read: {error}") from error


def _parts(source: str, wanted: Wanted, reach: Callable[[int], object]) -> _Parts:
    if source.startswith(("postgres://", "postgresql://")):
        return _served(source, wanted)
    with (path := file_of(source)).open("rb") as file:
        head = file.read(len(_SQLITE))
    if head.startswith(_CUSTOM):
        raise BadSource("This is pg_dump's own format. Turn it into SQL: pg_restore --file=dump.sql FILE")
    return _kept(path, wanted) if head == _SQLITE else _dumped(_lines(path, reach), wanted)


def connected(path: str = "") -> sqlite3.Connection:
    """Open a database with the functions that adapters use; without a path it is a file that SQLite deletes."""
    db = sqlite3.connect(path, isolation_level=None, uri=True)
    db.text_factory = lambda text: text.decode("utf-8", "replace")
    db.create_function("unix", 1, seconds, deterministic=True)
    db.create_function("truth", 1, truth, deterministic=True)
    return db


def stage(db: sqlite3.Connection, rows: Rows, queries: Iterable[tuple[str, str]]) -> None:
    """Add what queries yield, whose columns have the names of the staging table's."""
    for table, query in queries:
        found = db.execute(query)
        named = partial(_add, rows, table, [column[0] for column in found.description])
        rows.read(((f"{table} {row[0]}"[:100], row) for row in found), named)
    rows.settle()


def _add(rows: Rows, table: str, names: Sequence[str], row: Sequence[Any]) -> None:
    rows.add(table, **dict(zip(names, row, strict=True)))


def _names(columns: str) -> list[str]:
    return [column.split()[0] for column in columns.split(", ")]


def _kept(path: Path, wanted: Wanted) -> _Parts:
    """Yield the wanted tables of an SQLite file. A view or a virtual table could compute for ever."""
    with closing(connected(f"{path.resolve().as_uri()}?mode=ro")) as db:
        plain = "SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
        for (table,) in db.execute(plain).fetchall():
            here = {row[1] for row in db.execute(f"PRAGMA table_info({table})")} if table in wanted else ()
            if names := [name for name in _names(wanted.get(table, "-")) if name in here]:
                yield table, names, db.execute(f"SELECT {', '.join(names)} FROM {table}")  # noqa: S608 # nosec B608 - our names


def _served(source: str, wanted: Wanted) -> _Parts:
    """Yield the wanted tables of a PostgreSQL server, all as of one moment."""
    with psycopg.connect(source) as connection:
        connection.isolation_level, connection.read_only = psycopg.IsolationLevel.REPEATABLE_READ, True
        for table, columns in wanted.items():
            here = connection.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attnum > 0 AND attislocal",
                [table],
            )
            if names := [name for (name,) in here if name in _names(columns)]:
                with connection.cursor().copy(f"COPY {table} ({', '.join(names)}) TO STDOUT") as copy:
                    yield table, names, copy.rows()


def _lines(path: Path, reach: Callable[[int], object]) -> Iterator[str]:
    for number, line in lines(path, _LONGEST):
        if number % 10_000 == 0:
            reach(0)
        if len(line) > _LONGEST:
            raise BadSource(f"Line {number} of {path.name} is too long for a dump.")
        yield line.decode("utf-8", "replace")  # columns that are not wanted can hold bytes that are not text


def _dumped(lines: Iterator[str], wanted: Wanted) -> _Parts:
    """Yield the tables of a dump; a large one comes in several parts."""
    columns = dict[str, list[str]]()
    for line in lines:
        if found := _COPY.match(line):
            rows = _copied(lines)
            if found[1] in wanted:
                yield found[1], found[2].replace('"', "").split(", "), rows
            for _ in rows:  # their first column could be a text like a statement
                pass
        elif (found := _CREATE.match(line)) and found[1] in wanted:
            own = takewhile(lambda part: not part.startswith(")"), islice(lines, _MOST_COLUMNS))
            columns[found[1]] = [column[1] for part in own if (column := _COLUMN.match(part))]
            yield found[1], columns[found[1]], ()  # it may have no rows
        elif (found := _INSERT.match(line)) and found[1] in wanted:
            given = re.findall(r"`(\w+)`", found[2] or "") or columns.get(found[1], [])
            yield found[1], given, _inserted(line, found.end(), lines)


def _copied(lines: Iterator[str]) -> Iterator[list[str | None]]:
    """Yield the rows of a COPY of PostgreSQL, which are on a line each."""
    for line in lines:
        if line == "\\.\n":
            return
        values = line.rstrip("\n").split("\t", _MOST_COLUMNS)
        yield [None if value == "\\N" else _unescaped(value) for value in values]
    raise BadSource("The dump ends within a table.")


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: _CONTROLS.get(found[1], found[1]), text) if "\\" in text else text


def _inserted(line: str, at: int, lines: Iterator[str]) -> Iterator[list[str | None]]:
    """Yield the rows of an INSERT of MySQL or MariaDB, which are on one line, or on one each."""
    row: list[str | None] = []
    while True:
        if not line[at : at + 2].strip():
            line, at = next(lines, ""), 0
        found = _VALUE.match(line, at)
        if not found or len(row) > _MOST_COLUMNS:
            raise BadSource(f"This line of the dump cannot be read: {line[at : at + 80]!r}")
        text, plain = found[1], (found[2] or "").strip()
        row.append(_unescaped(text.replace("''", "'")) if text is not None else None if plain == "NULL" else plain)
        at = found.end()
        if found[3] == ")":
            yield row
            if line[at : at + 1] == ";":
                return
            row, at = [], at + 1
