"""Vouches: members in good standing say that a newcomer is honest, and answer for it with their next ones.

Also who brought in whom, by a vouch or an invitation.
"""

from collections import Counter
from collections.abc import Collection
from datetime import timedelta

from django.db import models, transaction
from django.utils import timezone

from accounts.models.members import Row, User, name_of
from accounts.models.moderation import BanScope
from accounts.models.sign_up import Invitation
from articles.configuration.choices import chosen

MONTH = timedelta(days=30)
ANSWERABLE = timedelta(days=365)  # time for which a wrong vouch makes the member's vouches weigh less
ENOUGH = 2  # halves of a vouch that end probation: a full one, or two that weigh half


class VouchLimitError(Exception):
    """The member has vouched for as many newcomers as is possible for now."""


class VouchManager(models.Manager["Vouch"]):
    """Give and weigh vouches. Weights are in halves: 2, 1 after a wrong vouch within a year, 0 after two."""

    def give(self, by: User, member: User) -> "Vouch":
        """Let a member vouch for another one. Idempotent. Raises VouchLimitError."""
        with transaction.atomic():
            User.objects.select_for_update().get(pk=by.pk)
            given = self.filter(by=by, member=member).first()
            if given is None:
                if self.left(by) < 1:
                    raise VouchLimitError
                given = self.create(by=by, member=member)
        return given

    def left(self, by: User) -> int:
        """Return for how many newcomers the member can vouch now. One query."""
        given = self.filter(by=by, given_at__gt=timezone.now() - MONTH)
        return max(0, int(chosen.VOUCHES) - given.count())

    def weigh(self, members: Collection[int]) -> dict[int, int]:
        """Return what the vouches for each of these members weigh together, in halves.

        Those by members who are banned or deleted by now weigh nothing. Two queries, one without vouches.
        """
        pairs = list(
            self.filter(member__in=members, by__in=User.objects.in_standing())
            .order_by()
            .values_list("member", "by")
        )
        wrong = self._count_wrong({by for _, by in pairs}) if pairs else {}
        weights = Counter[int]()
        for member, by in pairs:
            weights[member] += max(0, ENOUGH - wrong.get(by, 0))
        return weights

    def weight_of(self, by: User) -> int:
        """Return what a vouch by this member weighs, in halves. One query."""
        return max(0, ENOUGH - self._count_wrong([by.pk]).get(by.pk, 0))

    def _count_wrong(self, givers: Collection[int]) -> dict[int, int]:
        wrong = self.filter(by__in=givers, wrong_at__gt=timezone.now() - ANSWERABLE).order_by()
        return dict(wrong.values_list("by").annotate(models.Count("pk")))

    def note(self, member: User, *, is_wrong: bool) -> None:
        """Note that moderators banned a member, or left the member's votes out; or that they took it back."""
        if is_wrong:
            self.filter(member=member, wrong_at=None).update(wrong_at=timezone.now())
        elif not member.bans.current().exclude(scope=BanScope.GROUP.value).exists():
            self.filter(member=member).update(wrong_at=None)

    def list_for(self, members: Collection[int]) -> "dict[int, list[Vouch]]":
        """Return the vouches for each of these members, the first first. One query."""
        found: dict[int, list[Vouch]] = {}
        for one in self.filter(member__in=members).select_related("by").order_by("given_at", "pk"):
            found.setdefault(one.member_id, []).append(one)
        return found


class Vouch(Row):
    """That a member vouched for another one. The row outlives both accounts, whose own rows stay."""

    by = models.ForeignKey(User, models.DO_NOTHING, related_name="vouches_given")
    member = models.ForeignKey(User, models.DO_NOTHING, related_name="vouches")
    given_at = models.DateTimeField(default=timezone.now)
    wrong_at = models.DateTimeField(null=True)
    """When moderators banned the member, or left the member's votes out; null unless that stands."""

    objects = VouchManager()

    class Meta(Row.Meta):
        constraints = (models.UniqueConstraint(fields=["by", "member"], name="vouch_once"),)

    by_name = name_of("by")

    member_name = name_of("member")


_MOST_LEVELS = 20
_UNKNOWN = 0  # stands for a member above the levels that are looked at; no member has this id


def origins_of(members: Collection[int]) -> dict[int, set[int]]:
    """Return of each member: itself, who invited or vouched for it, and so on up to moderators.

    Moderators bring in many strangers: they are among the origins only of those whom they brought in themselves.
    Three queries for each level.
    """
    origins = {member: {member} for member in members}
    last = {member: {member} for member in members}
    for level in range(_MOST_LEVELS):
        above = _brought_in_by(set().union(*last.values()))
        if not above:
            return origins
        by = set().union(*above.values())
        moderators = set(User.objects.site_moderators().filter(pk__in=by).values_list("pk", flat=True))
        for member, reached in last.items():
            found = set().union(*(above.get(one, ()) for one in reached)) - origins[member]
            last[member] = found - moderators
            origins[member] |= last[member] if level else found
    for member, reached in last.items():
        origins[member] |= {_UNKNOWN} if reached else set()
    return origins


def _brought_in_by(members: Collection[int]) -> dict[int, set[int]]:
    """Return who invited, or vouched for, each of these members. Two queries, none without members."""
    found: dict[int, set[int]] = {}
    if members:
        invited = Invitation.objects.filter(invited__in=members).values_list("invited", "inviter")
        for member, by in [
            *invited.order_by(),
            *Vouch.objects.filter(member__in=members).values_list("member", "by"),
        ]:
            found.setdefault(member, set()).add(by)
    return found
