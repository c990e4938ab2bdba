"""The accounts database remembers which store belongs to it, and the store that accounts remember it.

A store that was emptied, or another site's, would show members empty lists, or lists of others who have the same
account ids; with accounts that were emptied, the site would begin again without its members. So the site refuses
both until the operator accepts them (`manage.py accept_store`).
"""

from contextlib import suppress
from typing import Any

from django.apps import apps
from django.db import DatabaseError, transaction

from articles.domain.store_address import ANY_SITE

_ROW = 1


def _rows() -> Any:
    """Return all rows. The model is not imported: benchmarks read the rules before Django's models are loaded."""
    return apps.get_model("articles", "KnownStore").objects.all()


def known_site() -> str | None:
    """Return the store's UUID so far; None without one, ANY_SITE if it may be any. Raises DatabaseError."""
    site: str | None = _rows().filter(pk=_ROW).values_list("site", flat=True).first()
    return site


def remember(site: str) -> bool:
    """Remember the UUID of the store in use; return whether that worked. If not, the next process tries again."""
    with suppress(DatabaseError), transaction.atomic():
        _rows().update_or_create(pk=_ROW, defaults={"site": site})
        return True
    return False


def accept_any() -> None:
    """Let the next start accept whatever store it finds. Raises DatabaseError."""
    _rows().update_or_create(pk=_ROW, defaults={"site": ANY_SITE})
