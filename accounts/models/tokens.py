"""Tokens for the API."""

import secrets
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256
from typing import ClassVar

from django.contrib.auth import get_backends
from django.core.validators import RegexValidator
from django.db import DEFAULT_DB_ALIAS, OperationalError, models, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from accounts.models.members import User
from accounts.plain_queries import PlainQuery

# Control characters, line separators, and characters that change the direction of text.
_PRINTABLE = RegexValidator(
    r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", _("Use printable characters only."), inverse_match=True
)

READ, VOTE, POST, MODERATE = SCOPES = ("read", "vote", "post", "moderate")
"""What a token can allow a program to do; `vote` includes saving articles."""


_SCOPE_LABELS = {
    READ: pgettext_lazy("scope of a token", "read"),
    VOTE: pgettext_lazy("scope of a token", "vote"),
    POST: pgettext_lazy("scope of a token", "post"),
    MODERATE: pgettext_lazy("scope of a token", "moderate"),
}


class TokenLimitError(Exception):
    """The member has reached the limit of tokens."""


class TokenManager(models.Manager["Token"]):
    """Issue and look up tokens. Only digests are stored, so a leaked database gives no access."""

    PREFIX = "avs_"  # lets secret scanners recognise a token
    PER_USER = 20
    SENT_TWICE = timedelta(seconds=10)
    """Age up to which an unused token of the same name counts as created by the same double click."""

    renewed_by: ClassVar[set[str]] = set()
    """Relations of tokens whose rows let a program renew them. Extras add theirs when they are ready."""

    _USE_RECORDED_EVERY = timedelta(hours=1)

    def issue(
        self,
        user: User,
        name: str,
        *,
        once: bool = False,
        scopes: Iterable[str] = SCOPES,
        expires_at: datetime | None = None,
    ) -> "tuple[Token, str]":
        """Create a token. Return it and its plain text, which is not stored. Raises TokenLimitError.

        `once`: a form that arrives twice leaves one token, the one whose plain text the member sees. Every token
        can read.
        """
        allowed = " ".join(scope for scope in SCOPES if scope == READ or scope in scopes)
        plaintext = self.PREFIX + secrets.token_urlsafe(32)
        with transaction.atomic():
            User.objects.select_for_update().get(pk=user.pk)
            if once:
                unseen = self.typed(user).filter(name=name, last_used_at=None)
                unseen.filter(created_at__gte=timezone.now() - self.SENT_TWICE).delete()
            if self.typed(user).count() >= self.PER_USER:
                raise TokenLimitError
            token = self.create(
                user=user, name=name, digest=digest_of(plaintext), scopes=allowed, expires_at=expires_at
            )
        return token, plaintext

    def typed(self, user: User) -> models.QuerySet["Token"]:
        """Return the tokens that the member created, without those that programs renew."""
        return self.filter(user=user, **dict.fromkeys(self.renewed_by))

    def find(self, plaintext: str) -> "Token | None":
        """Return the valid token of an active member, or None. Records its use, at most once an hour."""
        if not (plaintext.isascii() and plaintext.startswith(self.PREFIX)):
            return None
        row = _BY_DIGEST.read(digest_of(plaintext))
        token = Token.from_db(DEFAULT_DB_ALIAS, _BY_DIGEST.names, row) if row else None
        if token is None or token.is_expired:
            return None
        (backend,) = get_backends()  # which reads a member for each request by one plain query
        if (member := backend.get_user(token.user_id)) is None:
            return None
        token.user, now = member, timezone.now()
        if token.last_used_at is None or token.last_used_at <= now - self._USE_RECORDED_EVERY:
            with suppress(OperationalError):  # best-effort: a busy database must not reject the token
                self.filter(pk=token.pk).update(last_used_at=now)
        return token


def digest_of(plaintext: str) -> str:
    """Return what is stored of a secret."""
    # 32 random bytes cannot be guessed, so a fast hash is safe.
    return sha256(plaintext.encode()).hexdigest()


class Token(models.Model):
    """A member's token for the API."""

    user = models.ForeignKey(User, models.CASCADE, related_name="tokens")
    name = models.CharField(
        _("name"), max_length=50, validators=[_PRINTABLE], help_text=_("A name to recognise this token by.")
    )
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True, blank=True)
    scopes = models.CharField(max_length=40, default=" ".join(SCOPES))
    expires_at = models.DateTimeField(null=True, blank=True)

    objects = TokenManager()

    class Meta:
        verbose_name = _("token")
        verbose_name_plural = _("tokens")
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.name

    def allows(self, scope: str) -> bool:
        """Return whether a program with this token may do what the scope names."""
        return scope in self.scopes.split()

    @property
    def scope_labels(self) -> list[str]:
        return [str(_SCOPE_LABELS[scope]) for scope in self.scopes.split()]

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()

    @property
    def is_renewed(self) -> bool:
        """Whether a program renews it, so that it outlives its end. At most one query for each relation."""
        return any(hasattr(self, relation) for relation in Token.objects.renewed_by)


_BY_DIGEST = PlainQuery(Token, "digest = %s")
