"""Encryption of secrets in the accounts database, with a key that only the site's secret key leads to.

A copy of the database, or a backup, gives no second factor away. With another key, what was encrypted is lost.
"""

from base64 import urlsafe_b64encode
from functools import cache

from cryptography.fernet import Fernet, InvalidToken
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
    digest = salted_hmac("accounts.encryption", "", secret=secret_key, algorithm="sha256").digest()
    return Fernet(urlsafe_b64encode(digest))
