"""Builds the repository from the settings: the only place that joins Django and the store."""

import logging
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import DatabaseError
from markupsafe import Markup

from articles import known_store
from articles.domain.articles import ArticleId
from articles.domain.errors import StoreError
from articles.domain.limits import LIMITS, Rate
from articles.domain.lists import closed_groups, without_groups
from articles.domain.rules import Rules
from articles.domain.trust import BACKERS
from articles.finding import Finder, Follower, Index, IndexFolder, MemoryIndex
from articles.operation import metrics
from articles.repository import PATIENT_TIMEOUT_SECONDS, Confirmation, MoveState, Place, Repository, connect
from articles.retractions import Retractions
from articles.text.kept_html import KeptHtml
from articles.text.markdown import render
from owner import choices
from owner.choices import Recent, chosen

_log = logging.getLogger(__name__)

_MOST_MOVES = 8

LOOK_EVERY = 1.0
"""Seconds for which a process may still read from the former store after a move."""

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
        view_repeat=configured.VIEW_REPEAT_MINUTES * 60,
        views_per_network_and_article=configured.VIEWS_PER_NETWORK_AND_ARTICLE,
        views_per_network=configured.VIEWS_PER_NETWORK,
        new_account=configured.NEW_ACCOUNT_HOURS * 3600,
        ring_accounts=configured.VOTING_RING_ACCOUNTS,
        ring_window=configured.VOTING_RING_MINUTES * 60,
        new_member=configured.NEW_MEMBER_DAYS * 86400,
        trusted_points=max(BACKERS, configured.NEW_MEMBER_POINTS) if configured.NEW_MEMBER_POINTS else 0,
        flags_to_remove=configured.FLAGS_TO_REMOVE,
        suggestions=configured.SUGGESTIONS,
        hot_refresh=configured.HOT_REFRESH_SECONDS,
        records_ballots=configured.BALLOT_DAYS > 0,
        archive_after=configured.ARCHIVE_DAYS * 86400,
        limits=_limits(configured),
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


def _limits(configured: Any) -> Mapping[str, Rate]:
    rates = {limit.name: getattr(configured, limit.setting) for limit in LIMITS if configured.RATE_LIMITS}
    return {name: rate for name, rate in rates.items() if rate}


class _Followed:
    """Where the site was moved from the configured store; None if it was not."""

    def __init__(self) -> None:
        self._place: Place | None = None

    def get(self) -> Place | None:
        return self._place

    def go_to(self, place: Place | None) -> None:
        self._place = place


_followed = _Followed()


def _connected(timeout_seconds: float, site_rules: Rules) -> Repository:
    """Return the repository of the store in use: the configured one, or the one that the site was moved to."""
    _watch.choices = choices.version()
    configured = connected = _unprepared(timeout_seconds, site_rules)
    connected.check_server()
    for _ in range(_MOST_MOVES):
        if (place := connected.moves.get_new_place()) is None:
            break
        _log.warning("The site was moved to another store: set REDIS_URL and STORE_SHARDS=%s.", place.shards)
        _followed.go_to(place)
        former, connected = connected, _unprepared(timeout_seconds, site_rules)
        connected.moves.complete(former.moves)
    _prepare(connected, is_server_checked=connected is configured)
    return connected


def forget_repositories() -> None:
    """Let the next calls of `repository` and `patient_repository` connect again, where the site is then."""
    _repository.cache_clear()
    _patient_repository.cache_clear()
    _titles.forget()


class _Watch:
    """What this process knows about a move of its store."""

    def __init__(self) -> None:
        self.state = MoveState.NONE
        self.looked_at = 0.0
        self.choices = 0
        """The version of the owner's choices that the rules have."""

    def has_moved(self, repository: Repository) -> bool:
        """Return whether the site is in another store by now. One round trip."""
        self.looked_at = time.monotonic()  # other threads continue meanwhile
        with suppress(StoreError):
            self.state = repository.moves.get_state()
        return self.state is MoveState.MOVED


_watch = _Watch()


def is_about_to_move() -> bool:
    """Return whether changes will be refused for some seconds soon, as known to this process. No round trip."""
    return _watch.state in (MoveState.COPYING, MoveState.CLOSED)


def _follow(connected: Repository) -> None:
    """Connect again at the next use if the site is in another store by now, or has other rules.

    One round trip, if that is due.
    """
    is_due = time.monotonic() - _watch.looked_at >= LOOK_EVERY
    if _watch.choices != choices.version() or (is_due and _watch.has_moved(connected)):
        forget_repositories()


def _unprepared(timeout_seconds: float, site_rules: Rules, place: Place | None = None) -> Repository:
    url, shards = place or _followed.get() or (settings.STORE_URL, settings.STORE_SHARDS)
    return connect(
        url,
        shards=shards,
        rules=site_rules,
        kept_html=kept_html(),
        timeout_seconds=timeout_seconds,
        reads_replicas=settings.STORE_READ_REPLICAS,
        confirmation=_confirmation(timeout_seconds),
        observe=metrics.observe,
        retract=retract,
    )


def _confirmation(timeout_seconds: float) -> Confirmation | None:
    """Return what changes wait for.

    They wait less long than for a reply, so that the reply says what is missing.
    """
    if not (settings.STORE_CONFIRM_REPLICAS or settings.STORE_CONFIRM_FSYNC):
        return None
    waits = min(timeout_seconds * _SHARE_OF_TIMEOUT, _MOST_CONFIRMATION_SECONDS)
    return Confirmation(settings.STORE_CONFIRM_REPLICAS, settings.STORE_CONFIRM_FSYNC, waits)


def retract(articles: Collection[ArticleId] | None) -> None:
    """Retract copies of pages: see `articles.retractions`."""
    if settings.KEPT_PAGES_DIR is not None:
        concerned = None if articles is None else finder(catches_up=False).add_posted_again(articles)
        Retractions(Path(settings.KEPT_PAGES_DIR)).add(concerned)
    _titles.forget()


def _latest_retraction() -> str:
    return "" if settings.KEPT_PAGES_DIR is None else Retractions(Path(settings.KEPT_PAGES_DIR)).latest()


def _load_titles() -> Mapping[str, str]:
    with without_groups(()):  # every reader of the process gets them, members too
        return repository().groups.get_titles()


_titles: Recent[Mapping[str, str]] = Recent(_load_titles, {}, StoreError, _latest_retraction)


def group_titles() -> Mapping[str, str]:
    """Return the titles of all groups, which pages show instead of slugs.

    Every process remembers them: one round trip in some seconds, and after a retraction.
    """
    titles, closed = _titles.get(), closed_groups()
    return {slug: title for slug, title in titles.items() if slug not in closed} if closed else titles


def group_title(slug: str) -> str:
    """Return the title of a group; the slug if there is no such group."""
    return group_titles().get(slug, slug)


def group_named(name: str) -> str:
    """Return the slug of the group with this title, in capitals or not; the name if no group has it."""
    folded = name.strip().casefold()
    return next((slug for slug, title in group_titles().items() if title.casefold() == folded), name)


def _prepare(connected: Repository, *, is_server_checked: bool) -> None:
    """Prepare the store if it belongs to the accounts.

    While the accounts are unavailable, any store is accepted.
    """
    try:
        known = known_store.known_site()
    except DatabaseError:
        connected.prepare(is_server_checked=is_server_checked)
        return
    connected.prepare(known, is_server_checked=is_server_checked)
    if known or known_store.remember(connected.site_id):
        connected.note_remembered()


def examined_repository() -> Repository:
    """Return a repository like `repository`, whose store is neither checked nor stamped, for examining it.

    No round trip.
    """
    return _unprepared(settings.STORE_TIMEOUT_MS / 1000, rules())


@cache
def _repository() -> Repository:
    return _connected(settings.STORE_TIMEOUT_MS / 1000, rules())


def repository() -> Repository:
    """Return the repository for pages, which times out quickly; its store is checked at the first call.

    Raises StoreUnavailable and StoreUnfit; the next call then retries.
    """
    _follow(_repository())
    return _repository()


@cache
def _patient_repository() -> Repository:
    return _connected(PATIENT_TIMEOUT_SECONDS, replace(rules(), limits={}))


def patient_repository() -> Repository:
    """Return the repository for commands, which wait for long batches and are not limited.

    Raises StoreUnavailable and StoreUnfit.
    """
    _follow(_patient_repository())
    return _patient_repository()


@cache
def _index() -> Index:
    return MemoryIndex() if settings.SEARCH_DIR is None else IndexFolder(Path(settings.SEARCH_DIR))


@cache
def _finder() -> Finder:
    return Finder(_index())


@cache
def _own_follower() -> Follower:
    return Follower(repository, _index())


def finder(*, catches_up: bool = True) -> Finder:
    """Return what searches articles and comments. No round trip.

    Without a folder, the index is in this process, and follows the store now, if it `catches_up`.
    """
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


def unprepared_repository() -> Repository:
    """Return a repository like `patient_repository`, whose store is neither checked nor stamped. No round trip."""
    return _unprepared(PATIENT_TIMEOUT_SECONDS, replace(rules(), limits={}))


def other_repository(place: Place) -> Repository:
    """Return a repository like `unprepared_repository`, of another store. No round trip. Raises ValueError."""
    return _unprepared(PATIENT_TIMEOUT_SECONDS, replace(rules(), limits={}), place)


def place() -> Place:
    """Return where the store is that the site uses. Connects to it."""
    patient_repository()
    return _followed.get() or Place(settings.STORE_URL, settings.STORE_SHARDS)
