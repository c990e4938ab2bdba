"""Where the settings become a repository: the one place that joins Django and the store."""

from functools import cache

from django.conf import settings

from articles.domain import Rules
from articles.repository import Repository, connect


def rules() -> Rules:
    """The site's constants, from the settings."""
    return Rules(
        voting_window=settings.VOTING_WINDOW_DAYS * 86400,
        votes_per_day=settings.VOTES_PER_DAY,
        per_page=settings.ARTICLES_PER_PAGE,
        repost_window=settings.REPOST_HOURS * 3600,
        edit_window=settings.EDIT_MINUTES * 60,
    )


def _connected(*, patient: bool) -> Repository:
    found = connect(settings.STORE_URL, shards=settings.STORE_SHARDS, rules=rules(), patient=patient)
    found.prepare()
    return found


@cache
def repository() -> Repository:
    """The repository of pages: its store is checked at first use, and gives up on a store that hangs.

    Raises StoreUnavailable or StoreUnfit, and tries anew the next time.
    """
    return _connected(patient=False)


@cache
def patient_repository() -> Repository:
    """The repository of commands, which wait for long batches."""
    return _connected(patient=True)
