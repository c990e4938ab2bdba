"""Builds the repository from the settings: the only place that joins Django and the store."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError

from articles import known_store
from articles.domain.articles import ArticleId
from articles.domain.limits import LIMITS, Rate
from articles.domain.rules import Rules
from articles.operation import metrics
from articles.repository import PATIENT_TIMEOUT_SECONDS, Repository, connect
from articles.retractions import Retractions


def rules(configured: Any = settings) -> Rules:
    """Return the site's rules from the settings, or from other values with the same names."""
    return Rules(
        voting_window=configured.VOTING_WINDOW_DAYS * 86400,
        votes_per_day=configured.VOTES_PER_DAY,
        per_page=configured.ARTICLES_PER_PAGE,
        repost_window=configured.REPOST_HOURS * 3600,
        edit_window=configured.EDIT_MINUTES * 60,
        view_repeat=configured.VIEW_REPEAT_MINUTES * 60,
        views_per_network_and_article=configured.VIEWS_PER_NETWORK_AND_ARTICLE,
        views_per_network=configured.VIEWS_PER_NETWORK,
        new_account=configured.NEW_ACCOUNT_HOURS * 3600,
        ring_accounts=configured.VOTING_RING_ACCOUNTS,
        ring_window=configured.VOTING_RING_MINUTES * 60,
        hot_refresh=configured.HOT_REFRESH_SECONDS,
        archive_after=configured.ARCHIVE_DAYS * 86400,
        limits=_limits(configured),
    )


def _limits(configured: Any) -> Mapping[str, Rate]:
    rates = {limit.name: getattr(configured, limit.setting) for limit in LIMITS if configured.RATE_LIMITS}
    return {name: rate for name, rate in rates.items() if rate}


def _connected(timeout_seconds: float, site_rules: Rules) -> Repository:
    connected = _unprepared(timeout_seconds, site_rules)
    _prepare(connected)
    return connected


def _unprepared(timeout_seconds: float, site_rules: Rules) -> Repository:
    return connect(
        settings.STORE_URL,
        shards=settings.STORE_SHARDS,
        rules=site_rules,
        timeout_seconds=timeout_seconds,
        observe=metrics.observe,
        retract=_retract,
    )


def _retract(articles: Collection[ArticleId] | None) -> None:
    if settings.KEPT_PAGES_DIR is not None:
        Retractions(Path(settings.KEPT_PAGES_DIR)).add(articles)


def _prepare(connected: Repository) -> None:
    """Prepare the store if it belongs to the accounts. While these are away, any store is taken."""
    try:
        known = known_store.known_site()
    except DatabaseError:
        connected.prepare()
        return
    connected.prepare(known)
    if known is None:
        known_store.remember(connected.site_id)


def examined_repository() -> Repository:
    """Return a repository like `repository`, whose store is neither checked nor stamped, for examining it.

    No round trip.
    """
    return _unprepared(settings.STORE_TIMEOUT_MS / 1000, rules())


@cache
def repository() -> Repository:
    """Return the repository for pages, which times out quickly; its store is checked at the first call.

    Raises StoreUnavailable and StoreUnfit; the next call then retries.
    """
    return _connected(settings.STORE_TIMEOUT_MS / 1000, rules())


@cache
def patient_repository() -> Repository:
    """Return the repository for commands, which wait for long batches and are not limited.

    Raises StoreUnavailable and StoreUnfit.
    """
    return _connected(PATIENT_TIMEOUT_SECONDS, replace(rules(), limits={}))


def unprepared_repository() -> Repository:
    """Return a repository like `patient_repository`, whose store is neither checked nor stamped. No round trip."""
    return _unprepared(PATIENT_TIMEOUT_SECONDS, replace(rules(), limits={}))
