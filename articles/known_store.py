"""The accounts database remembers which store belongs to it.

A store that was emptied, or another site's, would show members empty lists, or lists of others who have the same
account ids. So the site refuses it until the operator accepts it (`manage.py accept_store`).
"""

from contextlib import suppress
from typing import Any

from django.apps import apps
from django.db import DatabaseError, transaction

_ROW = 1


def _rows() -> Any:
    """Return all rows. The model is not imported: benchmarks read the rules before Django's models are loaded."""
    return apps.get_model("articles", "KnownStore").objects.all()


def known_site() -> str | None:
    """Return the UUID that the site's store had so far; None if it has used none. Raises DatabaseError."""
    site: str | None = _rows().filter(pk=_ROW).values_list("site", flat=True).first()
    return site


def remember(site: str) -> None:
    """Remember the UUID of the store in use. If that fails, the next process tries again."""
    with suppress(DatabaseError), transaction.atomic():
        _rows().update_or_create(pk=_ROW, defaults={"site": site})


def forget() -> bool:
    """Let the next start accept whatever store it finds. Return whether one was known. Raises DatabaseError."""
    deleted, _ = _rows().filter(pk=_ROW).delete()
    return bool(deleted)
