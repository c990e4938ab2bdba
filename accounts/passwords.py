"""Passwords: hashed a few at once, and those with which members confirm a change.

A hash takes much memory and time on purpose, so many at once stop a process. Confirmations are logged and limited
like logins.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import Any

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher, PBKDF2PasswordHasher
from django.contrib.auth.signals import user_login_failed
from django.core.exceptions import ValidationError
from django.dispatch import Signal
from django.forms import BaseForm
from django.http import HttpRequest
from django.utils.translation import gettext as _

from articles.configuration.choices import chosen

LONGEST_WAIT = 2.0  # seconds that a request waits for its turn


class HashesBusy(Exception):
    """Too many passwords are being hashed; retrying a moment later helps."""


TURNS = BoundedSemaphore(settings.PASSWORD_HASHES_AT_ONCE)  # one for each hash that is computed


@contextmanager
def turn() -> Iterator[None]:
    """Wait for a turn to hash, as each hasher of the site does. Raises HashesBusy after LONGEST_WAIT."""
    if not TURNS.acquire(timeout=LONGEST_WAIT):
        raise HashesBusy
    try:
        yield
    finally:
        TURNS.release()


class Argon2Hasher(Argon2PasswordHasher):
    """Argon2, in turns. Known and unknown accounts wait alike, because both hash once."""

    def encode(self, password: str, salt: str) -> str:
        with turn():
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        with turn():
            return super().verify(password, encoded)


class PBKDF2Hasher(PBKDF2PasswordHasher):
    """PBKDF2, in turns. Its `verify` encodes."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        with turn():
            return super().encode(password, salt, iterations)


class SiteNameValidator:
    """Refuses passwords that are little more than the site's name."""

    def validate(self, password: str, user: Any = None) -> None:  # noqa: ARG002 - Django's interface
        """Raise ValidationError if less is left without the name than a password has at least."""
        typed, name = (_letters(text) for text in (password, chosen.SITE_NAME))
        if name and name in typed and len(typed.replace(name, "")) < _LEFT:
            raise ValidationError(self.get_help_text(), code="site_name")

    def get_help_text(self) -> str:
        return _("Your password can’t be the name of this site with a few characters added.")


_LEFT = 8


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


password_confirmed = Signal()  # sent with `request` when a member's own password was right


def note_password(request: HttpRequest, form: BaseForm, field: str = "password") -> None:
    """Report whether the password in this field of a validated form was right."""
    if field in form.cleaned_data:
        password_confirmed.send(sender=type(form), request=request)
    elif form.data.get(field):
        credentials = {"username": request.user.get_username()}
        user_login_failed.send(sender=__name__, credentials=credentials, request=request)
