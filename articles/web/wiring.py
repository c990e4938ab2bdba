"""Builds the repository from the settings: the only place that joins Django and the store."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import DatabaseError
from markupsafe import Markup

from articles import known_store
from articles.configuration import choices
from articles.configuration.choices import chosen
from articles.configuration.recent import Recent
from articles.domain.articles import ArticleId
from articles.domain.errors import StoreError
from articles.domain.lists import closed_groups, without_groups
from articles.domain.rules import Rules
from articles.domain.trust import BACKERS
from articles.operation import metrics
from articles.page_store import PageStore
from articles.repository import PATIENT_TIMEOUT_SECONDS, Confirmation, Repository, connect
from articles.repository.finding import Finder, Follower, Index, IndexFolder
from articles.text.kept_html import KeptHtml
from articles.text.markdown import render

_SHARE_OF_TIMEOUT = 0.8
_MOST_CONFIRMATION_SECONDS = 2.0


def rules(configured: Any = chosen) -> Rules:
    """Return the site's rules from the settings, or from other values with the same names."""
    return Rules(
        voting_window=configured.VOTING_WINDOW_DAYS * 86400,
        votes_per_day=configured.VOTES_PER_DAY,
        per_page=configured.ARTICLES_PER_PAGE,
        repost_window=configured.REPOST_HOURS * 3600,
        edit_window=configured.EDIT_MINUTES * 60,
        views_per_network=configured.VIEWS_PER_NETWORK,
        ring_accounts=configured.VOTING_RING_ACCOUNTS,
        new_member=configured.NEW_MEMBER_DAYS * 86400,
        trusted_points=max(BACKERS, configured.NEW_MEMBER_POINTS) if configured.NEW_MEMBER_POINTS else 0,
        flags_to_remove=configured.FLAGS_TO_REMOVE,
        records_ballots=configured.BALLOT_DAYS > 0,
        limits=configured.LIMITS,
    )


def html_of(text: str) -> Markup:
    """Return the HTML of what a member wrote in Markdown, by the site's rules for links. See `members_named`."""
    return render(text, private_links=settings.ALLOW_PRIVATE_LINKS, find_members=members_named)


def kept_html() -> KeptHtml:
    """Return what makes the HTML that the store keeps with texts, like `html_of`."""
    return KeptHtml(settings.SECRET_KEY, private_links=settings.ALLOW_PRIVATE_LINKS, find_members=members_named)


def html_of_site_text(text: str) -> Markup:
    """Return the HTML of what operators and moderators write: links to pages of the site are links, too."""
    return render(text, private_links=settings.ALLOW_PRIVATE_LINKS, site_links=True, find_members=members_named)


def members_named(names: Collection[str]) -> Collection[str]:
    """Return those of the names that members have; all of them while the accounts are unavailable. One query."""
    try:
        return get_user_model().objects.existing(names)
    except DatabaseError:
        return names


def _unprepared(*, is_patient: bool) -> Repository:
    """Return a repository for commands, or else for pages. Its store is neither checked nor stamped."""
    timeout_seconds = PATIENT_TIMEOUT_SECONDS if is_patient else settings.STORE_TIMEOUT_MS / 1000
    confirmation = None
    if settings.STORE_CONFIRM_REPLICAS:  # changes wait less long than for a reply, which then says what is missing
        waits = min(timeout_seconds * _SHARE_OF_TIMEOUT, _MOST_CONFIRMATION_SECONDS)
        confirmation = Confirmation(settings.STORE_CONFIRM_REPLICAS, waits)
    return connect(
        settings.STORE_URL,
        shards=settings.STORE_SHARDS,
        rules=replace(rules(), limits={}) if is_patient else rules(),
        kept_html=kept_html(),
        timeout_seconds=timeout_seconds,
        reads_replicas=settings.STORE_READ_REPLICAS,
        confirmation=confirmation,
        observe=metrics.observe,
        retract=retract,
    )


@lru_cache(maxsize=2)
def _connected(_choices: int, *, is_patient: bool) -> Repository:
    """Return a repository with the rules of this version of the owner's choices, once its store is prepared.

    The store has to belong to the accounts. While these are unavailable, any store is accepted.
    """
    connected = _unprepared(is_patient=is_patient)
    try:
        known = known_store.known_site()
    except DatabaseError:
        connected.prepare()
        return connected
    connected.prepare(known)
    if known or known_store.remember(connected.site_id):
        connected.note_remembered()
    return connected


def repository() -> Repository:
    """Return the repository for pages, quick to time out. Raises StoreUnavailable, StoreUnfit, at first."""
    return _connected(choices.version(), is_patient=False)


def patient_repository() -> Repository:
    """Return the repository for commands, without limits. Raises StoreUnavailable, StoreUnfit."""
    return _connected(choices.version(), is_patient=True)


def examined_repository() -> Repository:
    """Return a repository like `repository`, for examining its store. No round trip."""
    return _unprepared(is_patient=False)


def unprepared_repository() -> Repository:
    """Return a repository like `patient_repository`, whose store is neither checked nor stamped. No round trip."""
    return _unprepared(is_patient=True)


def forget_repositories() -> None:
    """Let the next calls of `repository` and `patient_repository` connect again."""
    _connected.cache_clear()
    _titles.forget()


def retract(articles: Collection[ArticleId] | None) -> None:
    """Retract copies of pages: see `articles.page_store`."""
    if settings.KEPT_PAGES_DIR is not None:
        concerned = None if articles is None else finder(catches_up=False).add_posted_again(articles)
        PageStore(Path(settings.KEPT_PAGES_DIR)).retract(concerned)
    _titles.forget()


def _latest_retraction() -> str:
    return "" if settings.KEPT_PAGES_DIR is None else PageStore(Path(settings.KEPT_PAGES_DIR)).latest_retraction()


def _load_titles() -> Mapping[str, str]:
    with without_groups(()):  # every reader of the process gets them, members too
        return repository().groups.get_titles()


_titles: Recent[Mapping[str, str]] = Recent(_load_titles, {}, StoreError, _latest_retraction)


def group_titles() -> Mapping[str, str]:
    """Return the titles of all groups by slug. One round trip in some seconds, and after a retraction."""
    titles, closed = _titles.get(), closed_groups()
    return {slug: title for slug, title in titles.items() if slug not in closed} if closed else titles


def group_title(slug: str) -> str:
    """Return the title of a group; the slug if there is no such group."""
    return group_titles().get(slug, slug)


def group_named(name: str) -> str:
    """Return the slug of the group with this title, in capitals or not; the name if no group has it."""
    folded = name.strip().casefold()
    return next((slug for slug, title in group_titles().items() if title.casefold() == folded), name)


@cache
def _index() -> Index:
    return Index() if settings.SEARCH_DIR is None else IndexFolder(Path(settings.SEARCH_DIR))


@cache
def _finder() -> Finder:
    return Finder(_index())


@cache
def _own_follower() -> Follower:
    return Follower(repository, _index())


def finder(*, catches_up: bool = True) -> Finder:
    """Return what searches articles and comments; in this process, it `catches_up` now. No round trip."""
    if settings.SEARCH_DIR is None and catches_up:
        with suppress(StoreError):  # the search itself says so
            _own_follower().catch_up()
    return _finder()


def forget_finder() -> None:
    """Let the next call of `finder` or `follower` read the settings again."""
    for kept in (_index, _finder, _own_follower):
        kept.cache_clear()


def follower() -> Follower:
    """Return what keeps this machine's search index equal to the store, for the one process that writes it."""
    return Follower(patient_repository, _index())
