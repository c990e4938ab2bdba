"""Clients of the API, and articles in every state."""

import pytest

from articles.domain.articles import ArticleId, ImportedArticle
from tests.caller import Caller, with_token
from tests.cast import MODERATOR
from tests.factories import browser_of, post_as


@pytest.fixture
def anyone(site_store) -> Caller:
    return Caller(browser_of(strict=True))


@pytest.fixture
def as_alice(site_store, alice) -> Caller:
    return with_token(alice)


@pytest.fixture
def as_bob(site_store, bob) -> Caller:
    return with_token(bob)


@pytest.fixture
def as_carol(site_store, carol) -> Caller:
    return with_token(carol)


@pytest.fixture
def article(site_store, alice) -> ArticleId:
    """Alice's article, in no group."""
    return post_as(site_store, alice, "An article", "https://example.org/article").id


@pytest.fixture
def closed(site_store) -> ArticleId:
    """An article whose voting window has ended."""
    old = ImportedArticle("Old", "https://example.org/old", 0, "", site_store.store.now() - 8 * 86400, 30, 2)
    (found,) = site_store.imports.add([old])
    return found


@pytest.fixture
def removed(site_store, alice) -> ArticleId:
    found = post_as(site_store, alice, "Spam", "https://example.org/spam").id
    site_store.articles.remove(found, MODERATOR, "It is spam.")
    return found


@pytest.fixture
def python(site_store) -> str:
    site_store.groups.create("python", "Python")
    return "python"
