"""The site as its readers and members see it."""

from types import SimpleNamespace

import pytest
from django.middleware import csrf
from django.middleware.csrf import CSRF_SECRET_LENGTH
from django.utils.crypto import get_random_string

from accounts.models import User
from articles.kept_pages.middleware import KeptPagesMiddleware
from articles.repository import Repository
from articles.web import wiring
from tests.factories import member


@pytest.fixture(autouse=True)
def _empty_store(site_store: Repository) -> None:
    """Begin each test with an empty store."""


@pytest.fixture(autouse=True)
def _forms_without_random_words(monkeypatch):
    """A token must not happen to have a short word that a test says is absent."""
    # Django shifts letters by others: of these two it makes a third, w.
    monkeypatch.setattr(csrf, "_get_new_csrf_string", lambda: get_random_string(CSRF_SECRET_LENGTH, "aQ"))
    monkeypatch.setattr("accounts.web.sent_forms.masked", csrf._mask_cipher_secret)


@pytest.fixture
def kept(settings, tmp_path, monkeypatch):
    """Pages are kept in this directory; the thread that keeps further ones does not run."""
    settings.KEPT_PAGES_DIR = tmp_path / "kept_pages"
    idle = SimpleNamespace(start=lambda: None, is_alive=lambda: True)
    monkeypatch.setattr("articles.kept_pages.middleware.Thread", lambda **_: idle)
    return settings.KEPT_PAGES_DIR


@pytest.fixture
def outage(settings):
    def begin():
        settings.STORE_URL = "unix:///nowhere/store.sock"
        wiring.forget_repositories()

    return begin


@pytest.fixture
def refresher(monkeypatch):
    """The refresher of the client that is made next."""
    made, initial = [], KeptPagesMiddleware.__init__

    def init(self, get_response):
        initial(self, get_response)
        made.append(self.refresher)

    monkeypatch.setattr(KeptPagesMiddleware, "__init__", init)
    return lambda: made[-1]


@pytest.fixture
def dora(db: None) -> User:
    """Another moderator of the site."""
    return member("dora", moderator=True)
