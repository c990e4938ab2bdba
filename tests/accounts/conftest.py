"""The cast, and a cache that needs no store."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.cache import caches
from django.test import Client

from accounts.mail import wait_until_sent
from accounts.models import User

PASSWORD = "correct horse battery staple"


@pytest.fixture(autouse=True)
def _no_store(settings) -> Iterator[None]:
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    Path(settings.STATIC_ROOT).mkdir(parents=True, exist_ok=True)  # whitenoise warns without it
    yield
    caches["default"].clear()
    wait_until_sent()


@pytest.fixture
def alice(db) -> User:
    return User.objects.create_user("alice", "alice@example.org", PASSWORD)


@pytest.fixture
def bob(db) -> User:
    return User.objects.create_user("bob", "bob@example.org", PASSWORD)


@pytest.fixture
def carol(db) -> User:
    """The operator here: what carol moderates is not this app's."""
    return User.objects.create_superuser("carol", "carol@example.org", PASSWORD)


@pytest.fixture
def mallory(db) -> User:
    return User.objects.create_user("mallory", "mallory@example.org", PASSWORD)


@pytest.fixture
def as_alice(alice) -> Client:
    """A browser in which alice is logged in."""
    client = Client()
    client.force_login(alice)
    return client


@pytest.fixture
def strict() -> Client:
    """A browser for which missing CSRF tokens count."""
    return Client(enforce_csrf_checks=True)
