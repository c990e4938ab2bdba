"""What moderators see and do: voting rings, flags and bans."""

import logging
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from accounts.models import Ban, BanScope, User
from accounts.moderators import ASSIGN_GROUPS, BAN_MEMBERS, REMOVE_ARTICLES
from articles.domain.articles import ArticleId
from articles.domain.errors import StoreDamaged, StoreUnavailable
from articles.domain.moderation.log import Action, Actor
from articles.operation import metrics
from articles.web.identity import address_of, network_of
from articles.wiring import repository

PERMISSIONS = (REMOVE_ARTICLES, ASSIGN_GROUPS)
"""Permissions, any of which lets a member see voting rings."""

_log = logging.getLogger(__name__)


def network_of_new_account(request: HttpRequest, member: Any) -> str:
    """Return the digest of the network from which a new account votes.

    Returns "" for other accounts, for a client without an address, and if voting rings are not looked for.
    """
    rules, joined_at = repository().rules, member.date_joined.timestamp()
    is_new = repository().store.now() - joined_at < rules.new_account
    return network_of(request, wide=True) if is_new and rules.ring_accounts and address_of(request) else ""


def note(article_id: ArticleId, accounts: int) -> None:
    """Count and log a voting ring, once for each time that it flags the article."""
    metrics.count_voting_ring()
    _log.warning("voting ring: article=%d accounts=%d", article_id, accounts)


def ban(member: User, scope: BanScope, reason: str, *, days: int, moderator: Actor) -> Ban | None:
    """Ban a member and log it; return None if the same ban has just begun. Raises StoreError; then none begins.

    `days`: 0 for a ban without end.
    """
    ends_at = timezone.now() + timedelta(days=days) if days else None
    with transaction.atomic():
        begun = Ban.objects.begin(member, scope, reason, ends_at=ends_at, moderator_id=moderator.id)
        if begun:
            details = {"scope": scope.value} | ({"days": str(days)} if days else {})
            _log_ban(Action.BAN, moderator, member, reason, details)
    return begun


def lift_ban(member: User, reason: str, moderator: Actor) -> bool:
    """End a member's ban and log it; return whether there was one. Raises StoreError; then the ban remains."""
    with transaction.atomic():
        is_lifted = Ban.objects.lift(member)
        if is_lifted:
            _log_ban(Action.LIFT_BAN, moderator, member, reason, {})
    return is_lifted


def _log_ban(action: Action, moderator: Actor, member: User, reason: str, details: dict[str, str]) -> None:
    repository().moderation_log.note(action, moderator, member.get_username(), reason, details)


class VotingRingsLink:
    """What the navigation of moderators shows of voting rings. Reads the store only when the number is drawn."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    @property
    def is_shown(self) -> bool:
        return any(map(self._request.user.has_perm, PERMISSIONS))

    @property
    def flagged(self) -> int:
        """The number of flagged articles; 0 while the store is unavailable."""
        with suppress(StoreUnavailable, StoreDamaged):
            return repository().voting_rings.count()
        return 0


class QueueLink:
    """What the navigation of moderators shows of the queue. Reads the store only when the number is drawn."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    @property
    def is_shown(self) -> bool:
        return any(map(self._request.user.has_perm, (REMOVE_ARTICLES, BAN_MEMBERS)))

    @property
    def waiting(self) -> int:
        """The number of entries in the queue, with appeals; without flags while the store is unavailable."""
        appeals = Ban.objects.with_open_appeals().count() if self._request.user.has_perm(BAN_MEMBERS) else 0
        with suppress(StoreUnavailable, StoreDamaged):
            return appeals + repository().flags.count()
        return appeals
