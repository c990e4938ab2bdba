"""Bans of members from posting or voting, with their reasons and appeals."""

from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from accounts.models.members import User, current_name

_SENT_TWICE = timedelta(minutes=1)
"""Age up to which a ban is the same as one for the same reason."""


class BanScope(StrEnum):
    """What a ban forbids."""

    POSTING = "posting"
    VOTING = "voting"
    BOTH = "both"


class BanManager(models.Manager["Ban"]):
    """Begin and find bans. A member has at most one current ban."""

    def begin(
        self, member: User, scope: BanScope, reason: str, *, ends_at: datetime | None, moderator_id: int
    ) -> "Ban | None":
        """Ban a member, replacing the current ban; return None if the same ban has just begun.

        `ends_at`: None for a ban without end.
        """
        with transaction.atomic():
            locked = User.objects.select_for_update().get(pk=member.pk)
            before = self.current(locked)
            if before and before.is_just_begun and before.is_same(scope, reason, ends_at):
                return None
            self.filter(member=locked, lifted_at=None).update(lifted_at=timezone.now())
            self._note_change(locked.pk, banned_from=scope.value, ban_ends_at=ends_at)
            return self.create(
                member=locked, scope=scope.value, reason=reason, ends_at=ends_at, moderator_id=moderator_id
            )

    def lift(self, member: User) -> bool:
        """End a member's ban; return whether there was one."""
        with transaction.atomic():
            locked = User.objects.select_for_update().get(pk=member.pk)
            had_one = self.current(locked) is not None
            self.filter(member=locked, lifted_at=None).update(lifted_at=timezone.now())
            if had_one:
                self._note_change(locked.pk, banned_from="", ban_ends_at=None)
        return had_one

    def current(self, member: User) -> "Ban | None":
        """Return the member's current ban, neither over nor lifted; None without one. One query."""
        return self._current().filter(member=member).first()

    def to_show(self, member: User) -> "Ban | None":
        """Return the member's latest ban if it is current, or if its change is news. One query, for most none."""
        if not (member.banned_from or member.has_news_of_ban):
            return None
        latest = self.filter(member=member).first()
        return latest if latest and (latest.is_current or member.has_news_of_ban) else None

    def with_open_appeals(self) -> "models.QuerySet[Ban]":
        """Return the current bans whose appeals moderators have not answered, the oldest appeal first."""
        waiting = self._current().filter(answered_at=None).exclude(appealed_at=None)
        return waiting.select_related("member", "moderator").order_by("appealed_at", "pk")

    def answer(self, ban: "Ban", text: str) -> bool:
        """Answer a ban's appeal; return whether this call did."""
        waiting = self._current().filter(pk=ban.pk, answered_at=None).exclude(appealed_at=None)
        with transaction.atomic():
            is_answered = waiting.update(answer=text, answered_at=timezone.now()) == 1
            if is_answered:
                self._note_change(ban.member_id)
        return is_answered

    @staticmethod
    def _note_change(member: int, **values: Any) -> None:
        User.objects.filter(pk=member).update(ban_changed_at=timezone.now().timestamp(), **values)

    def _current(self) -> "models.QuerySet[Ban]":
        return self.filter(Q(ends_at=None) | Q(ends_at__gt=timezone.now()), lifted_at=None)


class Ban(models.Model):
    """A ban. The member's own row repeats the current one, so that no request needs another query."""

    member = models.ForeignKey(User, models.CASCADE, related_name="bans")
    scope = models.CharField(max_length=7)
    reason = models.TextField()
    moderator = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    begins_at = models.DateTimeField(default=timezone.now)
    ends_at = models.DateTimeField(null=True, help_text="Null: it has no end.")
    lifted_at = models.DateTimeField(null=True)
    appeal = models.TextField(default="")
    appealed_at = models.DateTimeField(null=True)
    answer = models.TextField(default="")
    answered_at = models.DateTimeField(null=True)

    objects = BanManager()

    class Meta:
        default_permissions = ()  # not edited by hand
        ordering = ["-begins_at", "-pk"]

    def __str__(self) -> str:
        return f"ban of account {self.member_id} from {self.scope}"

    @property
    def is_just_begun(self) -> bool:
        return self.begins_at >= timezone.now() - _SENT_TWICE

    def is_same(self, scope: BanScope, reason: str, ends_at: datetime | None) -> bool:
        """Return whether this ban is the one that a form sent twice would create again."""
        if self.ends_at and ends_at:
            is_as_long = abs(self.ends_at - ends_at) <= _SENT_TWICE
        else:
            is_as_long = self.ends_at == ends_at
        return is_as_long and (self.scope, self.reason) == (scope, reason)

    @property
    def is_current(self) -> bool:
        return self.lifted_at is None and (self.ends_at is None or self.ends_at > timezone.now())

    @property
    def moderator_name(self) -> str:
        """Name of the moderator who banned; "" if that account is deleted."""
        return current_name(self.moderator)
