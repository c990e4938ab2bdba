"""Errors as one sentence for the operator."""

import re

from django.db import Error as DatabaseError

from articles.domain.errors import StoreError

IMPORT_RUNNING = """\
Another import is running, or the site is being moved to another store: try again when that is done.
After a crash, wait two minutes."""
NO_TABLES = "The accounts database has no tables yet: run `manage.py migrate` first."

_LACKS_A_TABLE = re.compile(
    r"no such table|there is no file|relation \S+ does not exist|table \S+ doesn't exist", re.IGNORECASE
)
"""Matches the messages of SQLite, of our backend for it, of PostgreSQL and MySQL."""


def about_store(error: StoreError) -> str:
    """Return the error as a sentence about the store, which many of its messages are already."""
    message = one_line(error)
    return message if message.startswith("The store") else f"The store cannot be used: {message}"


def about_accounts(error: DatabaseError) -> str:
    """Return the error as a sentence about the accounts database."""
    message = one_line(error)
    return NO_TABLES if _LACKS_A_TABLE.search(message) else f"The accounts database cannot be used: {message}"


def about_system(error: OSError) -> str:
    """Return an error of the operating system with its file, if it names one, and its reason."""
    reason = error.strerror or one_line(error)
    path = error.filename.decode("utf-8", "replace") if isinstance(error.filename, bytes) else error.filename
    return f"The system refused {path}: {reason}." if path else f"The system refused: {reason}."


def one_line(error: Exception) -> str:
    """Return the error's message on one line, with a full stop at its end."""
    message = " ".join(str(error).split()) or type(error).__name__
    return message if message.endswith((".", "?", "!")) else f"{message}."
