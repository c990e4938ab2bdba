"""What keeps a command from its work, in one sentence for the operator."""

import re

from django.db import Error as DatabaseError

from articles.domain.errors import StoreError

NO_TABLES = "The accounts database has no tables yet: run `manage.py migrate` first."

_LACKS_A_TABLE = re.compile(r"no such table|relation \S+ does not exist|table \S+ doesn't exist", re.IGNORECASE)
"""As SQLite, PostgreSQL and MySQL say it."""


def about_store(error: StoreError) -> str:
    """Many errors of the store are sentences about it already."""
    words = one_line(error)
    return words if words.startswith("The store") else f"The store cannot be used: {words}"


def about_accounts(error: DatabaseError) -> str:
    words = one_line(error)
    return NO_TABLES if _LACKS_A_TABLE.search(words) else f"The accounts database cannot be used: {words}"


def about_system(error: OSError) -> str:
    """The file, if the system names one, and the reason."""
    place, reason = error.filename, error.strerror or one_line(error)
    shown = place.decode("utf-8", "replace") if isinstance(place, bytes) else place
    return f"The system refused {shown}: {reason}." if shown else f"The system refused: {reason}."


def one_line(error: Exception) -> str:
    """What the error says, ended like a sentence."""
    words = " ".join(str(error).split()) or type(error).__name__
    return words if words.endswith((".", "?", "!")) else f"{words}."
