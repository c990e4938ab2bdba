"""Keys that only the site's secret key leads to, such as that of secrets in the accounts database.

A copy of the database, or a backup, gives no second factor away. With another secret key, what was encrypted is
lost.
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
    return Fernet(urlsafe_b64encode(derived("accounts.encryption", secret_key)))


def derived(purpose: str, secret_key: str) -> bytes:
    """Return 32 bytes for a purpose, by which the secret key cannot be found."""
    return salted_hmac(purpose, "", secret=secret_key, algorithm="sha256").digest()
