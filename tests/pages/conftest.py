"""The site as its members see it: on the real store, with the cast."""

from collections.abc import Iterator

import pytest
from django.conf import settings
from django.contrib.auth.models import Group
from django.core.cache import caches
from django.test import Client

from accounts.models import User
from articles import wiring
from articles.domain.articles import ArticleId
from articles.repository import Repository
from articles.repository.store.client import make_client
from voting_site.embedded import StorePaths


@pytest.fixture
def site(db: None, store_paths: StorePaths) -> Iterator[Repository]:
    """The site's own repository, empty."""
    make_client(settings.STORE_URL).flushdb()
    caches["default"].clear()
    wiring.repository.cache_clear()
    wiring.patient_repository.cache_clear()
    yield wiring.repository()
    wiring.repository.cache_clear()


def member(name: str) -> User:
    return User.objects.create_user(name, password=f"{name}'s long secret")


@pytest.fixture
def alice(site: Repository) -> User:
    return member("alice")


@pytest.fixture
def bob(site: Repository) -> User:
    return member("bob")


@pytest.fixture
def carol(site: Repository) -> User:
    """A moderator."""
    found = member("carol")
    found.groups.add(Group.objects.get(name="Moderators"))
    return found


@pytest.fixture
def mallory(site: Repository) -> User:
    return member("mallory")


def browser_of(user: User | None = None, *, strict: bool = False) -> Client:
    """A browser; `strict` checks the forms' tokens, as the real site does."""
    browser = Client(enforce_csrf_checks=strict)
    if user is not None:
        browser.force_login(user)
    return browser


@pytest.fixture
def article(site: Repository, alice: User) -> ArticleId:
    """Posted by alice, in the group python."""
    site.groups.create("python", "Python")
    return site.articles.post(alice.pk, "alice", "A title", "https://example.org/a", ["python"]).id
