"""What moderators look at: voting rings, whose votes are noted for them, and what members flag."""

import logging
from contextlib import suppress
from typing import Any

from django.http import HttpRequest

from articles.domain.articles import ArticleId
from articles.domain.errors import StoreDamaged, StoreUnavailable
from articles.operation import metrics
from articles.web.identity import address_of, network_of
from articles.wiring import repository

REMOVE = "articles.remove_articles"
"""A member with this permission decides on flags."""

PERMISSIONS = (REMOVE, "articles.assign_groups")
"""A member with one of them sees voting rings."""

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
        return bool(self._request.user.has_perm(REMOVE))

    @property
    def waiting(self) -> int:
        """The number of entries in the queue; 0 while the store is unavailable."""
        with suppress(StoreUnavailable, StoreDamaged):
            return repository().flags.count()
        return 0
