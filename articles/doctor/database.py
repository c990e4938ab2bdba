"""The accounts database. For the terminal only: a page that is shown has already used the database."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from articles.backup import former
from articles.doctor.examination import Examination, Finding, accounts_file, error, fine, note, reason_of, warning
from articles.operation import extras
from articles.web.account_ids import age_problem

_INTEGRITY_SECONDS = 5.0
_STEPS_BETWEEN_LOOKS = 10_000
_SHORTEST_STATEMENT_MS = 30_000  # milliseconds that a migration of a large table may take

_own: Any = connection  # the connection, whose class Django's types do not know

_SETTINGS = ("fsync", "synchronous_commit", "statement_timeout")


@contextmanager
def read_only() -> Iterator[None]:
    """Let this process only read the accounts' file in the block: Django would create, convert and recover it.

    A file that no process has open is read as it is, because SQLite would create files beside it.
    """
    file, writable = accounts_file(), connection.settings_dict
    if file is None:
        yield
        return
    connection.close()
    is_in_use = file.with_name(f"{file.name}-wal").exists()
    address = f"{file.as_uri()}?mode=ro{'' if is_in_use else '&immutable=1'}"
    connection.settings_dict = writable | {"NAME": address, "OPTIONS": {"timeout": 5}}
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict = writable


def check_answers(examination: Examination) -> Iterator[Finding]:
    file = accounts_file()
    if file is not None and not file.exists():
        yield note(f"There is no accounts database at {file} yet.", "The first start of the site creates it.")
    elif examination.database_outage:
        yield error(
            "The accounts database does not answer.",
            "Check `DATABASE_URL`, and that the database runs." if file is None else f"Check {file} and its disk.",
            examination.database_outage,
        )
    else:
        yield fine(f"{_version()} answers.")


def _version() -> str:
    if connection.vendor == "sqlite":
        return f"SQLite {sqlite3.sqlite_version}"
    if connection.vendor == "postgresql":
        major, minor = divmod(_own.pg_version, 10_000)
        return f"PostgreSQL {major}.{minor}"
    return connection.display_name


def check_migrations(_examination: Examination) -> Iterator[Finding]:
    executor = MigrationExecutor(connection)
    if former.FIRST_CHANGE in executor.loader.applied_migrations:
        yield error(former.REFUSAL)
        return
    newer = _unknown(executor)
    pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if newer:
        yield error(
            f"A newer version of the site has changed the database: {_names(newer)}.",
            "Run that version, or restore a backup from before.",
        )
    if pending and not executor.loader.applied_migrations:
        yield note("The accounts database has no tables yet.", "The first start of the site creates them.")
    elif pending:
        yield warning(
            f"The accounts database lacks {len(pending)} migrations: "
            f"{_names([(one.app_label, one.name) for one, _backwards in pending])}.",
            "Restart the site, which applies them, or run `manage.py migrate`.",
        )
    elif not newer:
        yield fine("All migrations are applied.")


def _unknown(executor: MigrationExecutor) -> list[tuple[str, str]]:
    """Return the applied migrations of the site's apps that the program does not have."""
    loader = executor.loader
    known = set(loader.disk_migrations)
    known |= {replaced for migration in loader.disk_migrations.values() for replaced in migration.replaces}
    apps = {app for app, _name in known}
    return [key for key in loader.applied_migrations if key[0] in apps and key not in known]


def _names(migrations: list[tuple[str, str]]) -> str:
    return ", ".join(f"{app}.{name}" for app, name in sorted(migrations))


def check_extras(_examination: Examination) -> Iterator[Finding]:
    found = [warning(sentence) for sentence in extras.sentences()]
    yield from found or [fine("All data of extras belongs to one that is here.")]


def check_integrity(_examination: Examination) -> Iterator[Finding]:
    """Let SQLite check the structure of its file, for some seconds at most."""
    if connection.vendor != "sqlite":
        return
    try:
        damage = _damage()
        if damage:  # if the site started in between, the first reading may have seen half a change
            with read_only():
                damage = _damage()
    except DatabaseError as failure:
        if "interrupted" not in str(failure):
            raise
        yield note(f"The accounts' file is too large to be checked within {_INTEGRITY_SECONDS:g} s.")
        return
    if damage:
        yield error("The accounts' file is damaged.", "Stop the site and restore a backup.", damage)
    else:
        yield fine("SQLite finds no damage in the accounts' file.")


def _damage() -> str:
    end = time.monotonic() + _INTEGRITY_SECONDS
    with connection.cursor() as cursor:
        file = _own.connection
        file.set_progress_handler(lambda: time.monotonic() > end, _STEPS_BETWEEN_LOOKS)
        try:
            cursor.execute("PRAGMA quick_check(1)")
            (answer,) = cursor.fetchone()
        except DatabaseError as failure:
            if "malformed" not in str(failure) and "not a database" not in str(failure):
                raise
            return reason_of(failure)
        finally:
            file.set_progress_handler(None, 0)
    return "" if answer == "ok" else str(answer)


def check_server_settings(_examination: Examination) -> Iterator[Finding]:
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, setting FROM pg_settings WHERE name = ANY(%s)", [list(_SETTINGS)])
        values = dict(cursor.fetchall())
    limit = int(values["statement_timeout"])
    if values["fsync"] == "off":
        yield error("PostgreSQL's `fsync` is off: a power failure can destroy the accounts.", "Set `fsync` to on.")
    if values["synchronous_commit"] == "off":
        yield note("PostgreSQL's `synchronous_commit` is off: a power failure can lose the newest accounts.")
    if 0 < limit < _SHORTEST_STATEMENT_MS:
        yield warning(
            f"PostgreSQL's `statement_timeout` is {limit} ms: migrations and housekeeping may fail.",
            f"Set it to {_SHORTEST_STATEMENT_MS} or more for the site's user, or to 0.",
        )
    yield fine(f"`statement_timeout` is {limit} ms.")


def check_age(examination: Examination) -> Iterator[Finding]:
    if problem := age_problem(examination.repository, notes=False):
        yield error(problem)
    else:
        yield fine("The accounts are as new as the store.")
