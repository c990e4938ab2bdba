"""Members with mail addresses, and a cache that needs no store."""

import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest
from django.core.cache import caches
from django.test import Client

from accounts import sessions
from accounts.models import User
from articles.web import wiring
from tests.cast import PASSWORD
from tests.factories import browser_of, member


@pytest.fixture(autouse=True)
def _no_store(settings, request, tmp_path) -> Iterator[None]:
    """Let pages do without a store, unless the test has one: another test's would remember its accounts."""
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
    if "site_store" not in request.fixturenames:
        settings.STORE_URL = f"unix://{tmp_path}/no-store.sock"
        wiring.forget_repositories()
    yield
    wiring.forget_repositories()
    caches["default"].clear()


@pytest.fixture
def alice(db: None) -> User:
    return member("alice", email="alice@example.org", password=PASSWORD)


@pytest.fixture
def bob(db: None) -> User:
    return member("bob", email="bob@example.org", password=PASSWORD)


@pytest.fixture
def carol(db: None) -> User:
    """The operator. In this app carol has no other role."""
    return member("carol", email="carol@example.org", password=PASSWORD, is_staff=True, is_superuser=True)


@pytest.fixture
def mallory(db: None) -> User:
    return member("mallory", email="mallory@example.org", password=PASSWORD)


@pytest.fixture
def as_alice(alice: User) -> Client:
    """A browser in which alice is logged in."""
    return browser_of(alice)


@pytest.fixture
def time_passes(monkeypatch) -> Callable[[float], None]:
    """Return what lets seconds pass for sessions and proofs. The processes that a test talks to notice nothing."""
    passed = [0.0]
    monkeypatch.setattr(sessions, "time", SimpleNamespace(time=lambda: time.time() + passed[0]))
    return lambda seconds: passed.__setitem__(0, passed[0] + seconds)
