"""Sweeps: moderators remove everything that a member posted recently, in one act that can be reversed."""

from django.db import models
from django.utils import timezone

from accounts.models.members import User, current_name


class Sweep(models.Model):
    """One sweep. The store marks what it removed with `mark`."""

    member = models.ForeignKey(User, models.CASCADE, related_name="sweeps")
    moderator = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    reason = models.TextField()
    since = models.DateTimeField(help_text="What was posted before stays.")
    begun_at = models.DateTimeField(default=timezone.now)
    removed = models.PositiveIntegerField(default=0, help_text="Articles and comments that it removed so far.")
    is_complete = models.BooleanField(default=False)
    restored_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()  # not edited by hand
        ordering = ["-begun_at", "-pk"]

    def __str__(self) -> str:
        return f"sweep of account {self.member_id}"

    @property
    def moderator_name(self) -> str:
        """Name of the moderator; "" if that account is deleted."""
        return current_name(self.moderator)

    @property
    def mark(self) -> str:
        """What the store records for each article and comment that the sweep removes."""
        return str(self.pk)
