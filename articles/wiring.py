"""Where the settings become a repository: the one place that joins Django and the store."""

from functools import cache

from django.conf import settings

from articles.domain.rules import Rules
from articles.operation import metrics
from articles.repository import Repository, connect


def rules() -> Rules:
    """The site's constants, from the settings."""
    return Rules(
        voting_window=settings.VOTING_WINDOW_DAYS * 86400,
        votes_per_day=settings.VOTES_PER_DAY,
        per_page=settings.ARTICLES_PER_PAGE,
        repost_window=settings.REPOST_HOURS * 3600,
        edit_window=settings.EDIT_MINUTES * 60,
        view_repeat=settings.VIEW_REPEAT_MINUTES * 60,
        views_per_network_and_article=settings.VIEWS_PER_NETWORK_AND_ARTICLE,
        views_per_network=settings.VIEWS_PER_NETWORK,
        hot_refresh=settings.HOT_REFRESH_SECONDS,
        archive_after=settings.ARCHIVE_DAYS * 86400,
    )


def _connected(*, patient: bool) -> Repository:
    found = connect(
        settings.STORE_URL,
        shards=settings.STORE_SHARDS,
        rules=rules(),
        read_timeout=settings.STORE_TIMEOUT_MS / 1000,
        patient=patient,
        observe=metrics.observe,
    )
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
