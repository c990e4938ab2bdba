"""Keys that only the site's secret key leads to: for secrets in the accounts database, and for push services.

A copy of the database, or a backup, gives no second factor and no device away. With another secret key, what was
encrypted is lost, and what devices subscribed to.
"""

from base64 import urlsafe_b64encode
from functools import cache

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.asymmetric import ec
from django.conf import settings
from django.utils.crypto import salted_hmac


class KeyChanged(Exception):
    """The text was encrypted with another secret key."""


def encrypt(text: str) -> str:
    return _cipher(settings.SECRET_KEY).encrypt(text.encode()).decode()


def decrypt(text: str) -> str:
    """Return the text that was encrypted. Raises KeyChanged."""
    try:
        return _cipher(settings.SECRET_KEY).decrypt(text.encode()).decode()
    except InvalidToken:
        raise KeyChanged from None


@cache
def _cipher(secret_key: str) -> Fernet:
    return Fernet(urlsafe_b64encode(_derived("accounts.encryption", secret_key)))


def push_key() -> ec.EllipticCurvePrivateKey:
    """Return the key by which push services know the site (VAPID, RFC 8292)."""
    return _push_key(settings.SECRET_KEY)


@cache
def _push_key(secret_key: str) -> ec.EllipticCurvePrivateKey:
    number = int.from_bytes(_derived("push", secret_key)) >> 1 | 1  # in the range of the curve's keys
    return ec.derive_private_key(number, ec.SECP256R1())


def _derived(purpose: str, secret_key: str) -> bytes:
    return salted_hmac(purpose, "", secret=secret_key, algorithm="sha256").digest()
