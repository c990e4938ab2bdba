"""The moderators' links in the header and in their navigation, with the numbers of what waits for them."""

from contextlib import suppress

from django.http import HttpRequest

from accounts.models import Ban
from accounts.moderators import ASSIGN_GROUPS, BAN_MEMBERS, REMOVE_ARTICLES
from articles.domain.errors import StoreDamaged, StoreUnavailable
from articles.wiring import repository

RING_PERMISSIONS = (REMOVE_ARTICLES, ASSIGN_GROUPS)
"""Permissions, any of which lets a member see voting rings."""


class VotingRingsLink:
    """What the navigation of moderators shows of voting rings. Reads the store only when the number is drawn."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request

    @property
    def is_shown(self) -> bool:
        return any(map(self._request.user.has_perm, RING_PERMISSIONS))

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
