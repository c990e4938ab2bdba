"""Who is trusted: no longer a new member, whose acts have stricter limits and whose votes may wait."""

from itertools import islice
from typing import Any

from accounts.models import User, origins_of
from articles.domain import trust
from articles.web.wiring import repository

_MOST_BACKERS = 200  # members who gave points of whom it is asked where they come from


def may_be_untrusted(member: Any) -> bool:
    """Return whether a member may not be old enough, or lack points: `is_trusted` looks closer. No round trip."""
    if member.trusted_at or member.is_superuser or member.has_permissions:
        return False
    return repository().rules.trusted_points > 0 or _is_young(member)


def is_trusted(member: Any) -> bool:
    """Return whether a member is old enough and has the points, or has permissions; then the member is for good.

    Round trips as `points_that_count`, none for a member who is trusted or young.
    """
    if not may_be_untrusted(member):
        return True
    if _is_young(member) or points_that_count(member) < repository().rules.trusted_points:
        return False
    member.trust()
    return True


def points_that_count(member: Any) -> int:
    """Return a member's points, without votes that are left out of ranking; of a new member those that end that.

    These are given by others who are trusted: see `articles.domain.trust`. Two round trips; for a new member who
    has the points up to four more, and some queries.
    """
    repo = repository()
    points = repo.members.get_points(member.pk, ranked=True)
    if points <= 0 or not (repo.rules.trusted_points and may_be_untrusted(member)):
        return points
    given = repo.members.count_votes_by(member.pk)
    backers = User.objects.in_standing().filter(pk__in=given)
    moderators = set(backers.site_moderators().values_list("pk", flat=True))
    trusted = moderators.union(backers.exclude(trusted_at=None).values_list("pk", flat=True))
    counts = {backer: given[backer] for backer in trusted}
    asked = () if moderators else [*islice(counts, _MOST_BACKERS)]
    return min(points, trust.counted(counts, origins_of(asked), moderators))


def _is_young(member: Any) -> bool:
    repo = repository()
    age = repo.store.now() - member.date_joined.timestamp()
    return repo.rules.new_member > 0 and age < repo.rules.new_member
