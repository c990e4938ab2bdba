"""The site on the real server's empty store, the cast, and clients that speak JSON."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import Group
from django.core.cache import caches
from django.test import Client

from accounts.models import Token, User
from accounts.moderators import GROUP
from articles import wiring
from articles.domain.articles import ArticleId, ImportedArticle
from articles.domain.moderation import Actor
from articles.repository import Repository
from articles.repository.store.client import make_client
from tests.api import contract

CAROL = Actor(3, "carol")


@pytest.fixture
def site_store(store_paths, settings) -> Iterator[Repository]:
    """The site's own repository, on an empty store."""
    Path(settings.STATIC_ROOT).mkdir(parents=True, exist_ok=True)  # whitenoise warns without it
    wiring.repository.cache_clear()
    wiring.patient_repository.cache_clear()
    make_client(store_paths.url(db=0)).flushdb()
    yield wiring.repository()
    caches["default"].clear()
    wiring.repository.cache_clear()
    wiring.patient_repository.cache_clear()


class Caller:
    """Calls the API as a program or a page does. Every answer has to be one that the document declares."""

    def __init__(self, client: Client, **headers: str) -> None:
        self.client, self.headers = client, headers

    def send(self, method: str, path: str, body: object = None, **options):
        """A request to /api/<path>; a body that is not bytes is sent as JSON."""
        if body is not None:
            raw = body if isinstance(body, bytes) else json.dumps(body).encode()
            options = {"data": raw, "content_type": "application/json"} | options
        headers = self.headers | options.pop("headers", {})
        answer = self.client.generic(method, f"/api/{path}", headers=headers, **options)
        contract.check(method, f"/api/{path}".partition("?")[0], answer)
        return answer

    def get(self, path: str, **options):
        return self.send("GET", path, **options)

    def post(self, path: str, body: object, **options):
        return self.send("POST", path, body, **options)

    def patch(self, path: str, body: object, **options):
        return self.send("PATCH", path, body, **options)

    def put(self, path: str, body: object, **options):
        return self.send("PUT", path, body, **options)


@pytest.fixture
def alice(db) -> User:
    return User.objects.create_user("alice")


@pytest.fixture
def bob(db) -> User:
    return User.objects.create_user("bob")


@pytest.fixture
def carol(db) -> User:
    user = User.objects.create_user("carol")
    user.groups.add(Group.objects.get(name=GROUP))
    return user


def with_token(user: User) -> Caller:
    """A program of this member; for it missing CSRF tokens would count."""
    _token, plaintext = Token.objects.issue(user, "a program")
    return Caller(Client(enforce_csrf_checks=True), authorization=f"Bearer {plaintext}")


@pytest.fixture
def anyone(site_store, db) -> Caller:
    return Caller(Client(enforce_csrf_checks=True))


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
    return site_store.articles.post(alice.pk, "alice", "An article", "https://example.org/article").id


@pytest.fixture
def closed(site_store) -> ArticleId:
    """An article whose voting window has ended."""
    old = ImportedArticle("Old", "https://example.org/old", 0, "", site_store.store.now() - 8 * 86400, 30, 2)
    (found,) = site_store.imports.add([old])
    return found


@pytest.fixture
def removed(site_store, alice) -> ArticleId:
    found = site_store.articles.post(alice.pk, "alice", "Spam", "https://example.org/spam").id
    site_store.articles.remove(found, CAROL, "It is spam.")
    return found


@pytest.fixture
def python(site_store) -> str:
    site_store.groups.create("python", "Python")
    return "python"


def error_of(answer) -> tuple[int, str]:
    """Status and code of a failure, whose shape is checked."""
    assert answer["Content-Type"].startswith("application/json"), answer.content
    (error,) = answer.json().values()
    assert answer.json().keys() == {"error"}
    assert error["code"]
    assert error["message"].endswith(".")
    return answer.status_code, error["code"]


def findings(repository: Repository) -> list[str]:
    return [str(finding) for finding in repository.audit.run()]
