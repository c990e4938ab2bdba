"""Begin, continue and reverse sweeps. Each call takes as many steps as one request has time for."""

from datetime import timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts.models import Sweep, User
from accounts.moderators import REMOVE_ARTICLES
from accounts.web.unsent_form import RESUBMISSION_WINDOW
from articles.domain.moderation.log import Actor
from articles.web.moderation.conflicts import check_not_own, check_target
from articles.web.moderation.steps import take
from articles.wiring import repository


class Progress(NamedTuple):
    """What a call did."""

    changed: int
    """Articles and comments that it removed or restored."""

    is_complete: bool


def begin(member: User, days: int, reason: str, moderator: Actor) -> Sweep:
    """Return the sweep that the same request began a moment ago, perhaps concurrently, or a new one.

    `days`: how far back it removes what the member posted. Raises OwnMatter, FellowModerator.
    """
    check_target(member, REMOVE_ARTICLES, moderator.id)
    with transaction.atomic():
        User.objects.select_for_update().get(pk=member.pk)
        now, age = timezone.now(), timedelta(days=days)
        since = (now - RESUBMISSION_WINDOW - age, now - age)
        same = Sweep.objects.filter(member=member, reason=reason, since__range=since, restored_at=None).first()
        return same or Sweep.objects.create(
            member=member, moderator_id=moderator.id, reason=reason, since=now - age
        )


def remove(sweep: Sweep, moderator: Actor) -> Progress:
    """Remove, and count what was removed even if the store fails meanwhile. Raises StoreError, and as `begin`."""
    check_target(sweep.member, REMOVE_ARTICLES, moderator.id)
    done, is_complete = list[bool](), False
    since = sweep.since.timestamp()
    steps = repository().sweeps.remove(sweep.member_id, since, sweep.mark, moderator, sweep.reason)
    try:
        is_complete = take(steps, done.append)
    finally:
        count = F("removed") + sum(done)
        Sweep.objects.filter(pk=sweep.pk).update(removed=count, is_complete=is_complete)
    return Progress(sum(done), is_complete)


def restore(sweep: Sweep, reason: str, moderator: Actor) -> Progress:
    """Restore what a sweep removed. Idempotent. Raises OwnMatter, StoreError."""
    check_not_own(sweep.member_id, moderator.id)
    done, since = list[bool](), sweep.since.timestamp()
    steps = repository().sweeps.restore(sweep.member_id, since, sweep.mark, moderator, reason)
    is_complete = take(steps, done.append)
    if is_complete:
        Sweep.objects.filter(pk=sweep.pk, restored_at=None).update(restored_at=timezone.now())
    return Progress(sum(done), is_complete)
