"""Members and their tokens for the API."""

import secrets
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from hashlib import sha256
from typing import Any

from django.contrib.auth import models as auth
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import OperationalError, models, transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts import names

_NAME_RULE = _("2 to 30 letters (a–z), digits, “_” and “-”, beginning with a letter.")
_NAME = RegexValidator(names.PATTERN, _NAME_RULE)
# Control characters, and those that break lines or turn the direction of text.
_PRINTABLE = RegexValidator(
    r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", _("Use printable characters only."), inverse_match=True
)


class UserManager(auth.UserManager["User"]):
    """Finds members whatever the case of their name, and takes in posters from elsewhere."""

    use_in_migrations = False
    _BATCH = 500  # names in one query

    def get_by_natural_key(self, username: str | None) -> "User":
        """The member of that name, in whatever spelling. Raises User.DoesNotExist."""
        canonical = names.canonical((username or "")[: names.MAX_LENGTH + 1])
        if not names.is_valid(canonical):
            raise self.model.DoesNotExist
        return self.get(canonical_name=canonical, left_at=None)

    def is_taken(self, username: str) -> bool:
        """Whether a member has, or had, this name, in whatever spelling."""
        canonical = names.canonical(username)
        return self.filter(canonical_name__in=[canonical, names.of_former(canonical)]).exists()

    def bulk_create_imported(self, posters: Iterable[str]) -> dict[str, int]:
        """User ids of posters from elsewhere, by their names as given; repeating it changes nothing.

        Who has no account gets one nobody can log in to. Names that break the rules are changed by
        `names.as_valid`; spellings of one name lead to one account. Names of deleted accounts are left out.
        """
        valid = {poster: names.as_valid(poster) for poster in posters}
        wanted = {names.canonical(name): name for name in valid.values()}
        order = list(wanted)
        ids: dict[str, int] = {}
        for start in range(0, len(order), self._BATCH):
            ids |= self._imported_ids({key: wanted[key] for key in order[start : start + self._BATCH]})
        canonical = {poster: names.canonical(name) for poster, name in valid.items()}
        return {poster: ids[key] for poster, key in canonical.items() if key in ids}

    def _imported_ids(self, wanted: dict[str, str]) -> dict[str, int]:
        """Ids by canonical name; `wanted` is spelling by canonical name."""
        ids = self._ids(wanted)
        if (missing := wanted.keys() - ids.keys()) and (missing := missing - self._former(missing)):
            users = [self.model(username=wanted[key], canonical_name=key, imported=True) for key in missing]
            for user in users:
                user.set_unusable_password()
            self.bulk_create(users, ignore_conflicts=True)
            ids |= self._ids(missing)
        return ids

    def _ids(self, canonical_names: Iterable[str]) -> dict[str, int]:
        known = self.filter(canonical_name__in=canonical_names, left_at=None)
        return dict(known.values_list("canonical_name", "pk"))

    def _former(self, canonical_names: Iterable[str]) -> set[str]:
        """Those that are names of deleted accounts."""
        kept = {form: name for name in canonical_names for form in (name, names.of_former(name))}
        former = self.filter(canonical_name__in=kept).exclude(left_at=None)
        return {kept[form] for form in former.values_list("canonical_name", flat=True)}


class User(AbstractBaseUser, auth.PermissionsMixin):
    """A member. The name is chosen once; `canonical_name` keeps it unique whatever its spelling."""

    username = models.CharField(
        _("username"),
        max_length=names.MAX_LENGTH,
        unique=True,
        validators=[_NAME],
        error_messages={"unique": _("This name is taken.")},
        help_text=_NAME_RULE,
    )
    canonical_name = models.CharField(max_length=names.MAX_LENGTH, unique=True, editable=False)
    email = models.EmailField(_("e-mail address"), blank=True)
    imported = models.BooleanField(
        _("imported"),
        default=False,
        editable=False,
        help_text=_("Came with articles from elsewhere; nobody can log in until a password is set."),
    )
    is_staff = models.BooleanField(_("staff"), default=False, help_text=_("May use this administration."))
    is_active = models.BooleanField(
        _("active"), default=True, help_text=_("Untick this instead of deleting an account.")
    )
    left_at = models.DateTimeField(
        _("deleted"),
        null=True,
        editable=False,
        help_text=_("The account is deleted; this row keeps its number from being used again."),
    )
    date_joined = models.DateTimeField(_("date joined"), default=timezone.now, editable=False)

    # How the member wants the site. Empty: as the browser asks.
    language = models.CharField(_("language"), max_length=10, blank=True, default="")
    theme = models.CharField(_("theme"), max_length=5, blank=True, default="")
    keyboard = models.BooleanField(_("keyboard shortcuts"), default=True)
    hidden_groups = models.TextField(_("hidden groups"), blank=True, default="", editable=False)

    objects = UserManager()

    EMAIL_FIELD = "email"
    USERNAME_FIELD = "username"
    REQUIRED_FIELDS = ["email"]  # `createsuperuser` asks for it; it may stay empty

    class Meta:
        verbose_name = _("member")
        verbose_name_plural = _("members")

    def clean(self) -> None:
        super().clean()
        self.email = type(self).objects.normalize_email(self.email)

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Raises ValidationError for a new account whose name breaks the rules, whoever makes it."""
        if self._state.adding:
            _NAME(self.username)
            self.canonical_name = names.canonical(self.username)
            with transaction.atomic():
                super().save(*args, **kwargs)
                # Looked for afterwards: until then the deleted account may have had the name itself.
                if type(self).objects.filter(canonical_name=names.of_former(self.canonical_name)).exists():
                    raise ValidationError({"username": _("This name is taken.")})
            return
        super().save(*args, **kwargs)


class Departure(models.Model):
    """How far the deletion of an account is, while something is left to do. See `accounts.account_deletion`."""

    user = models.OneToOneField(User, models.CASCADE, primary_key=True)
    begun_at = models.DateTimeField()
    again = models.BooleanField(default=False)
    step = models.PositiveSmallIntegerField(default=0)
    progress = models.CharField(max_length=200, default="")

    class Meta:
        default_permissions = ()  # nobody edits them

    def __str__(self) -> str:
        return f"deletion of account {self.pk}"


class TokenLimitError(Exception):
    """The member has as many tokens as one may have."""


class TokenManager(models.Manager["Token"]):
    """Tokens are kept as digests: what has leaked from the database opens nothing."""

    PREFIX = "avs_"  # lets secret scanners recognise a token
    PER_USER = 20
    SENT_TWICE = timedelta(seconds=10)
    """Age up to which an unused token of the same name belongs to the same double click."""

    _USE_NOTED_EVERY = timedelta(hours=1)

    def issue(self, user: User, name: str, *, once: bool = False) -> "tuple[Token, str]":
        """A new token and its plain text, which is kept nowhere. Raises TokenLimitError.

        `once`: a form that arrives twice leaves one token, the one whose plain text the member sees.
        """
        plaintext = self.PREFIX + secrets.token_urlsafe(32)
        with transaction.atomic():
            User.objects.select_for_update().get(pk=user.pk)
            if once:
                unseen = self.filter(user=user, name=name, last_used_at=None)
                unseen.filter(created_at__gte=timezone.now() - self.SENT_TWICE).delete()
            if self.filter(user=user).count() >= self.PER_USER:
                raise TokenLimitError
            token = self.create(user=user, name=name, digest=_digest(plaintext))
        return token, plaintext

    def user_for(self, plaintext: str) -> User | None:
        """The active member whose token this is. Notes the use, at most once an hour."""
        if not (plaintext.isascii() and plaintext.startswith(self.PREFIX)):
            return None
        known = self.filter(digest=_digest(plaintext), user__is_active=True)
        token = known.select_related("user").first()
        if token is None:
            return None
        now = timezone.now()
        if token.last_used_at is None or token.last_used_at <= now - self._USE_NOTED_EVERY:
            with suppress(OperationalError):  # a busy database refuses nobody for the sake of a note
                self.filter(pk=token.pk).update(last_used_at=now)
        return token.user


def _digest(plaintext: str) -> str:
    # 32 random bytes cannot be guessed, so a quick hash is enough.
    return sha256(plaintext.encode()).hexdigest()


class PermissionGroup(auth.Group):
    """A group of members with permissions, such as Moderators; not one of the site's groups of articles."""

    class Meta:
        proxy = True
        default_permissions = ()
        verbose_name = _("permission group")
        verbose_name_plural = _("permission groups")


class Token(models.Model):
    """A member's key to the API."""

    user = models.ForeignKey(User, models.CASCADE, related_name="tokens")
    name = models.CharField(
        _("name"),
        max_length=50,
        validators=[_PRINTABLE],
        help_text=_("What the token is for, to know it by."),
    )
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True, blank=True)

    objects = TokenManager()

    class Meta:
        verbose_name = _("token")
        verbose_name_plural = _("tokens")
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return self.name
