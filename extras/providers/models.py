"""Identities of members at providers."""

from django.db import models
from django.utils import timezone

from accounts.models.members import Row, User


class Identity(Row):
    """A person at an OpenID Connect provider, who signs in to an account."""

    user = models.ForeignKey(User, models.CASCADE, related_name="identities")
    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=255)
    label = models.CharField(max_length=254, default="")
    """What the provider calls the person: an address or a name, for the member's settings."""

    gives_moderation = models.BooleanField(default=False)
    """Whether this provider's claims made the member a moderator, so that their absence ends it."""

    linked_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True)

    class Meta(Row.Meta):
        ordering = ["linked_at", "pk"]
        constraints = (models.UniqueConstraint(fields=["issuer", "subject"], name="identity_once"),)
