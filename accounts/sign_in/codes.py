"""Codes of an authenticator app (TOTP, RFC 6238), and recovery codes, which replace a lost second factor once."""

import secrets
import time
from base64 import b32encode
from hashlib import sha256

import pyotp
import segno
from django.db import transaction
from django.dispatch import Signal
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from accounts.models import Authenticator, RecoveryCode, User
from articles.configuration.encryption import KeyChanged, decrypt, encrypt

STEP_SECONDS = 30

RECOVERY_CODES = 10
_RECOVERY_BYTES, _GROUP = 10, 4

_DIGITS = 6
LONGEST_CODE = 40  # characters of a code as it is typed, with spaces and hyphens


code_entered = Signal()
"""Sent with `member` before a code that can be guessed is compared. What a receiver raises refuses the code."""

code_compared = Signal()
"""Sent with `member`, `is_right`, and `can_be_guessed`: whether `code_entered` was sent before."""


def new_secret() -> str:
    """Return a secret for an authenticator app: 160 bits, in base32."""
    return pyotp.random_base32()


def picture_of(secret: str, name: str, site: str) -> str:
    """Return the QR code that an app scans, as an SVG element."""
    picture = segno.make(pyotp.TOTP(secret).provisioning_uri(name=name, issuer_name=site), error="m")
    svg: str = picture.svg_inline(scale=4, border=4, light="#fff", svgclass=None, lineclass=None)
    return svg


def save_secret(member: User, secret: str, code: str) -> bool:
    """Make the secret the member's second factor if the code is right, which it thereby uses up."""
    step = _step_of(secret, _digits(code), 0)
    if step is None:
        return False
    values = {"secret": encrypt(secret), "last_step": step, "last_used_at": timezone.now()}
    Authenticator.objects.update_or_create(user=member, defaults=values | {"created_at": timezone.now()})
    return True


def accept(member: User, code: str) -> bool:
    """Return whether this is a code of the member's app, or a recovery code. Each is accepted once.

    Whoever enters one has taken the first step already. Six digits can be guessed; recovery codes cannot, so these
    work even while others are refused. Raises what a receiver of `code_entered` raises.
    """
    digits = _digits(code)
    if can_be_guessed := len(digits) == _DIGITS:
        code_entered.send(sender=User, member=member)
    recovery = RecoveryCode.objects.filter(user=member, digest=_digest(code))
    is_right = _accept_of_app(member, digits) or recovery.delete()[0] == 1
    code_compared.send(sender=User, member=member, is_right=is_right, can_be_guessed=can_be_guessed)
    return is_right


def _accept_of_app(member: User, digits: str) -> bool:
    own = Authenticator.objects.filter(pk=member.pk).first()
    try:
        step = _step_of(decrypt(own.secret), digits, own.last_step) if own else None
    except KeyChanged:
        return False
    if step is None:
        return False
    later = Authenticator.objects.filter(pk=member.pk, last_step__lt=step)  # of two requests at once, one wins
    return later.update(last_step=step, last_used_at=timezone.now()) == 1


def _step_of(secret: str, digits: str, after: int) -> int | None:
    """Return the time step of the code, of those that are valid now and later than `after`; None without one."""
    now, app = int(time.time()) // STEP_SECONDS, pyotp.TOTP(secret)
    if len(digits) != _DIGITS:
        return None
    steps = [one for one in (now - 1, now, now + 1) if one > after]
    return next((one for one in steps if constant_time_compare(app.generate_otp(one), digits)), None)


def _digits(code: str) -> str:
    typed = "".join(code.split())
    return typed if typed.isascii() and typed.isdecimal() else ""


def _digest(code: str) -> str:
    # 80 random bits cannot be guessed, so a fast hash is safe, and needs no key that could be lost.
    return sha256("".join(filter(str.isalnum, code.upper())).encode()).hexdigest()


def new_recovery_codes(member: User) -> list[str]:
    """Replace the member's recovery codes, and return the new ones, which are not stored."""
    letters = [b32encode(secrets.token_bytes(_RECOVERY_BYTES)).decode() for _ in range(RECOVERY_CODES)]
    codes = ["-".join(one[n : n + _GROUP] for n in range(0, len(one), _GROUP)).lower() for one in letters]
    with transaction.atomic():
        member.recovery_codes.all().delete()
        RecoveryCode.objects.bulk_create(RecoveryCode(user=member, digest=_digest(one)) for one in codes)
    return codes


def is_readable(member: User) -> bool:
    """Return whether the member's app still works: its secret was encrypted with the site's present key."""
    try:
        decrypt(member.authenticator.secret)
    except (KeyChanged, Authenticator.DoesNotExist):
        return False
    return True
