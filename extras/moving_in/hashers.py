"""Passwords from other sites: which hashes are kept until their owners log in, and the hasher of bcrypt's."""

import re

from django.contrib.auth.hashers import BCryptPasswordHasher

from accounts.passwords import turn

_MOST_BYTES = 72  # of a password that bcrypt reads; its library refuses longer ones

_KEPT = re.compile(
    r"bcrypt\$\$2[aby]\$(0[4-9]|1[0-4])\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{31}"
    r"|pbkdf2_sha256\$(1\d{6}|[1-9]\d{0,5})\$[^$]{1,40}\$[+/A-Za-z0-9]{43}="
    r"|argon2\$argon2id\$v=19\$m=(1\d{5}|[1-9]\d{0,4}),t=[1-9],p=[1-8](\$([+/A-Za-z0-9]{4})+([+/A-Za-z0-9]{2,3})?){2}"
)
"""What the site can check within a second, in 200 MB, of each kind: strangers can let it check one as well."""


def may_be_kept(encoded: str) -> bool:
    """Return whether the hash, as Django keeps it, may prove whose an account is."""
    return len(encoded) <= 128 and _KEPT.fullmatch(encoded) is not None


class BCryptHasher(BCryptPasswordHasher):
    """bcrypt as Ruby and Rust write it, in turns. Its `verify` encodes."""

    def encode(self, password: str, salt: bytes) -> str:  # type: ignore[override]
        import bcrypt  # noqa: PLC0415 - only who comes with an old password needs it

        with turn():
            return f"{self.algorithm}${bcrypt.hashpw(password.encode()[:_MOST_BYTES], salt).decode('ascii')}"
