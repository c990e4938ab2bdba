"""Connections to the accounts' SQLite file that last longer than a request: opening one costs as much as a query.

Someone may delete the file or put a backup in its place while the site runs. A connection to the former file would
write into nothing, so each request checks whether the file is still the same, also for the accounts that the
process remembers. After an error, a connection is opened again: one that found the disk read-only stays read-only.
"""

import os
from contextlib import suppress
from typing import Any

from django.core.signals import request_started
from django.db import DatabaseError, connections
from django.db.backends.signals import connection_created

from accounts.remembered import forget_all_of_others

SECONDS = 60  # life of a connection, as for PostgreSQL


def keep_connections() -> None:
    """Let the connections of this process last from now on."""
    connections.settings["default"]["CONN_MAX_AGE"] = SECONDS
    connection_created.connect(_note_file, dispatch_uid=_note_file)
    request_started.connect(_close_if_replaced, dispatch_uid=_close_if_replaced)


def merge_log() -> None:
    """Leave everything in the file, once the processes that kept connections have ended without closing them."""
    with suppress(DatabaseError), connections["default"].cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint")
    connections["default"].close()


def _note_file(connection: Any, **_signal: Any) -> None:
    connection.accounts_file = _file_of(connection)
    connection.is_usable = bool  # False: Django asks after an error


def _close_if_replaced(**_signal: Any) -> None:
    connection: Any = connections["default"]
    file = _file_of(connection)
    forget_all_of_others(file)
    if connection.connection is not None and getattr(connection, "accounts_file", None) != file:
        connection.close()


def _file_of(connection: Any) -> tuple[int, int] | None:
    try:
        facts = os.stat(connection.settings_dict["NAME"])
    except OSError:
        return None
    return facts.st_dev, facts.st_ino
