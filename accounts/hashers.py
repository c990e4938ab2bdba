"""Hash passwords, a few at once: a hash takes much memory and time on purpose, so many at once stop a process."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher, PBKDF2PasswordHasher

LONGEST_WAIT = 2.0
"""Seconds that a request waits for its turn."""


class HashesBusy(Exception):
    """Too many passwords are being hashed; retrying a moment later helps."""


_turns = BoundedSemaphore(settings.PASSWORD_HASHES_AT_ONCE)


@contextmanager
def _turn() -> Iterator[None]:
    """Wait for a turn to hash. Raises HashesBusy after LONGEST_WAIT."""
    if not _turns.acquire(timeout=LONGEST_WAIT):
        raise HashesBusy
    try:
        yield
    finally:
        _turns.release()


class Argon2Hasher(Argon2PasswordHasher):
    """Argon2, in turns. Known and unknown accounts wait alike, because both hash once."""

    def encode(self, password: str, salt: str) -> str:
        with _turn():
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        with _turn():
            return super().verify(password, encoded)


class PBKDF2Hasher(PBKDF2PasswordHasher):
    """PBKDF2, in turns. Its `verify` encodes."""

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        with _turn():
            return super().encode(password, salt, iterations)
