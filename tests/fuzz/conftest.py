"""A site with articles in every state, browsers of every role, and the audit at the end of every part."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.test import Client

from accounts.models import Token, User
from articles.domain.articles import Choice, ImportedArticle
from articles.repository import Repository
from tests.cast import MODERATOR
from tests.factories import member, post_as, view
from tests.store_state import problems

ROLES = ("reader", "member", "moderator", "operator")


@dataclass
class Roles:
    """Who uses the site."""

    users: dict[str, User | None]

    def browser(self, role: str, *, strict: bool = False) -> Client:
        """Return a browser of the role, logged in."""
        browser = Client(enforce_csrf_checks=strict, raise_request_exception=False)
        if user := self.users[role]:
            browser.force_login(user)
        return browser

    def token(self, role: str) -> str:
        user = self.users[role]
        return Token.objects.issue(user, "fuzz")[1] if user else ""


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Log nothing: every second request is refused, and would be a line."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture
def roles(site_store: Repository) -> Iterator[Roles]:
    """Fill the site; audit it after the part."""
    alice, carol = member("alice"), member("carol", moderator=True)
    operator = member("olga", is_staff=True, is_superuser=True)
    _fill(site_store, alice)
    yield Roles({"reader": None, "member": alice, "moderator": carol, "operator": operator})
    assert problems(site_store) == []


def _fill(repository: Repository, alice: User) -> None:
    for slug, title in (("python", "Python"), ("redis", "Redis"), ("中文", "中文文章")):
        repository.groups.create(slug, title, MODERATOR)
    ids = [post_as(repository, alice, f"Title {n}", f"https://example.org/{n}", ["python"]).id for n in range(30)]
    view(repository, ids[0], 1, 2, 3)
    repository.votes.cast(ids[1], alice.pk, Choice.OPPOSE)
    repository.members.save(alice.pk, ids[2], wanted=True)
    repository.articles.remove(ids[3], MODERATOR, "Spam")
    old = ImportedArticle("Old", "https://example.org/old", 0, "", repository.store.now() - 9 * 86400, 30, 2)
    repository.imports.add([old])
