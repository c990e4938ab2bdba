"""How members sign in besides a password: passkeys, and second factors."""

from django.db import models
from django.utils import timezone

from accounts.models.members import Row, User


class Passkey(Row):
    """The public key of a WebAuthn credential."""

    user = models.ForeignKey(User, models.CASCADE, related_name="passkeys")
    name = models.CharField(max_length=50)
    credential_id = models.CharField(max_length=1400, unique=True)
    """As the authenticator made it, in base64url without padding."""

    public_key = models.TextField()  # COSE, in base64url without padding
    sign_count = models.BigIntegerField(default=0)
    """How often it has signed, by its own count. 0: it does not count."""

    is_synced = models.BooleanField(null=True)
    """Whether its owner's devices share it, as it said when it was added (the flag BE); None: not known yet.

    Each device then counts by itself. The counter of another passkey betrays a copy when it goes back.
    """

    created_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True)

    class Meta(Row.Meta):
        ordering = ["created_at", "pk"]


class Authenticator(Row):
    """The secret that an authenticator app shares with the site, for codes by time (TOTP, RFC 6238)."""

    user = models.OneToOneField(User, models.CASCADE, primary_key=True, related_name="authenticator")
    secret = models.TextField()  # encrypted: see `articles.configuration.encryption`
    last_step = models.BigIntegerField(default=0)
    """The time step of the newest code that was accepted: it and earlier ones are refused."""

    created_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True)


class RecoveryCode(Row):
    """A code that replaces a lost second factor once. Only its digest is stored; using it deletes the row."""

    user = models.ForeignKey(User, models.CASCADE, related_name="recovery_codes")
    digest = models.CharField(max_length=64)

    class Meta(Row.Meta):
        constraints = (models.UniqueConstraint(fields=["user", "digest"], name="recovery_code_once"),)
