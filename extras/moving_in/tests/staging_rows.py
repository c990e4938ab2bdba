"""What a format stages of a source: all rows of each table, sorted."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from extras.moving_in.sources import format_of
from extras.moving_in.staging import COLUMNS, TABLES, staged

_OWN = ("ban_scope", "is_closed", "views", "visitors", "subject", "details")  # columns that only exports have


def staged_rows(name, source, before="", **options):
    """Return them by table, without empty ones; the statement `before` changes a copy of an SQLite file."""
    with TemporaryDirectory() as folder:
        if before:
            source = shutil.copy(source, folder)
            with closing(sqlite3.connect(source)) as db:
                db.execute(before)
                db.commit()
        path = Path(folder, "staging.sqlite3")
        with staged(path) as staging:
            counts = []
            for _ in range(2):  # an interrupted run leaves rows
                format_of(name).fill(str(source), staging, options, counts.append)
            staging.finish()
            found = {table: rows for table in TABLES if (rows := _in_order(_plain_rows(staging, table)))}
        assert [one.name for one in Path(folder).iterdir() if "staging" in one.name] == ["staging.sqlite3"]
        assert sum(counts)
        return found


def _plain_rows(staging, table):
    names = [name for name in COLUMNS[table] if name not in _OWN]
    return [tuple(row[name] for name in names) for row in staging.rows(table)]


def _in_order(rows):
    plain = [
        tuple(int(one) if isinstance(one, float) and one.is_integer() else one for one in row) for row in rows
    ]
    return sorted(plain, key=lambda row: [str(one or "") for one in row])
