"""Invitations to sign up, and accounts that are waiting for a moderator's approval."""

import secrets
from collections.abc import Collection
from datetime import timedelta

from django.db import connection, models, transaction
from django.utils import timezone

from accounts import names
from accounts.models.members import Row, User, name_of
from articles.configuration.choices import chosen


class InvitationLimitError(Exception):
    """The member has no invitations left."""


_JOINED = """one.invited_id IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM accounts_waitingaccount WHERE user_id = one.invited_id)"""

_BELOW = f"""WITH RECURSIVE tree(inviter, invited) AS (
    SELECT inviter_id, invited_id FROM accounts_invitation one WHERE inviter_id IN ({{}}) AND {_JOINED}
    UNION ALL
    SELECT one.inviter_id, one.invited_id FROM tree JOIN accounts_invitation one ON one.inviter_id = tree.invited
    WHERE {_JOINED}
) SELECT inviter, invited FROM tree LIMIT %s"""  # nosec B608 # noqa: S608 - our names
"""Databases go through the tree level by level, and no further than the limit. An account is invited once, when it
is created, so there are no cycles."""


INVITATION_DAYS = 7  # days for which an invitation is valid


class InvitationManager(models.Manager["Invitation"]):
    """Issue and find invitations."""

    def issue(self, inviter: User) -> "Invitation":
        """Create an invitation. Raises InvitationLimitError."""
        with transaction.atomic():
            User.objects.select_for_update().get(pk=inviter.pk)
            if self.left(inviter) < 1:
                raise InvitationLimitError
            expires_at = timezone.now() + timedelta(days=INVITATION_DAYS)
            return self.create(inviter=inviter, code=secrets.token_urlsafe(18), expires_at=expires_at)

    def left(self, inviter: User) -> int:
        """Return how many invitations the member has left: expired ones are given back, used ones are not."""
        taken = self.filter(models.Q(invited__isnull=False) | models.Q(expires_at__gt=timezone.now()))
        return int(chosen.INVITATIONS_PER_MEMBER) - taken.filter(inviter=inviter).count()

    def find(self, code: str) -> "Invitation | None":
        """Return the unexpired invitation with this code, used or not, or None."""
        if not code.isascii():
            return None
        known = self.filter(code=code[:64], expires_at__gt=timezone.now(), inviter__is_active=True)
        return known.select_related("inviter").first()

    def used(self) -> "models.QuerySet[Invitation]":
        """Return those with which members joined, the first first. Accounts that wait are not among them."""
        return self.filter(invited__isnull=False, invited__waiting=None).order_by("pk")

    def list_roots(self) -> "models.QuerySet[User]":
        """Return those who invited others and were not invited themselves, the oldest accounts first."""
        used = self.used().order_by()
        inviters = User.objects.filter(pk__in=used.values("inviter"))
        return inviters.exclude(pk__in=used.values("invited")).order_by("pk")

    def list_below(self, members: Collection[int], most: int) -> list[tuple[int, int]]:
        """Return who invited whom below these members, level by level, at most `most` pairs. One query."""
        if not members:
            return []
        with connection.cursor() as cursor:
            cursor.execute(_BELOW.format(", ".join(["%s"] * len(members))), [*members, most])
            return [(inviter, invited) for inviter, invited in cursor.fetchall()]

    def count_by(self, members: Collection[int]) -> dict[int, int]:
        """Return how many each of these members invited, without those who invited no one. One query."""
        used = self.used().filter(inviter__in=members).order_by()
        return dict(used.values_list("inviter").annotate(models.Count("pk")))

    def end_unused(self, inviter: int) -> None:
        """End a deleted account's invitations. Used ones remain: they say who invited whom, without a name."""
        self.filter(inviter=inviter, invited=None).delete()

    def use(self, invitation: "Invitation", invited: User) -> bool:
        """Record who joined with the invitation; return whether it was unused until now."""
        return self.filter(pk=invitation.pk, invited=None).update(invited=invited) == 1


class Invitation(Row):
    """A link with which one person can sign up. The row outlives both accounts, whose own rows stay."""

    inviter = models.ForeignKey(User, models.DO_NOTHING, related_name="invitations")
    code = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    invited = models.OneToOneField(User, models.DO_NOTHING, null=True, related_name="invitation")

    objects = InvitationManager()

    class Meta(Row.Meta):
        ordering = ["-created_at", "-pk"]

    invited_name = name_of("invited")


class WaitingAccount(Row):
    """An account that cannot be used until a moderator approves it; its member is inactive meanwhile."""

    user = models.OneToOneField(User, models.CASCADE, primary_key=True, related_name="waiting")
    since = models.DateTimeField(default=timezone.now)

    class Meta(Row.Meta):
        ordering = ["since"]

    @property
    def inviter(self) -> User | None:
        """Who invited the person. No query where `user__invitation__inviter` was selected."""
        own = getattr(self.user, "invitation", None)
        return own.inviter if own else None

    @classmethod
    def find(cls, name: str, password: str) -> "WaitingAccount | None":
        """Return the waiting account with this name and this password, or None."""
        one = cls.objects.filter(user__canonical_name=names.canonical(name)).select_related("user").first()
        return one if one is not None and one.user.check_password(password) else None

    def end(self) -> bool:
        """End the wait; return whether this call did: if two moderators decide at once, only one of them does."""
        return WaitingAccount.objects.filter(pk=self.pk).delete()[0] == 1

    def approve(self) -> None:
        """Let the member log in. Call it once the wait has ended, in the same transaction."""
        User.objects.filter(pk=self.pk, left_at=None).update(is_active=True)
