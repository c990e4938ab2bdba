"""Notes: what moderators write about a member, for each other."""

from django.db import models
from django.utils import timezone

from accounts.models.members import User, current_name


class MemberNote(models.Model):
    """One note. Only moderators see it on the site; the member's export has its text, without the author."""

    member = models.ForeignKey(User, models.CASCADE, related_name="notes")
    author = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    text = models.TextField()
    written_at = models.DateTimeField(default=timezone.now)

    class Meta:
        default_permissions = ()  # not edited by hand
        ordering = ["-written_at", "-pk"]

    def __str__(self) -> str:
        return f"note on account {self.member_id}"

    @property
    def author_name(self) -> str:
        """Name of the moderator who wrote it; "" if that account is deleted."""
        return current_name(self.author)
