"""A provider in the settings, and the members of the tests of accounts."""

from collections.abc import Iterator

import pytest
from django.test import Client

from extras.providers import protocol
from extras.providers.tests.own_provider import OwnProvider
from tests.accounts.conftest import _no_store, alice, bob, carol, time_passes  # noqa: F401 - fixtures
from tests.factories import browser_of


@pytest.fixture
def club(settings, db: None) -> Iterator[OwnProvider]:
    """A provider that tells the truth unless a test lets it lie, in the site's settings."""
    protocol.forget()
    provider = OwnProvider()
    settings.PROVIDERS = provider.settings()
    yield provider
    provider.stop()


@pytest.fixture
def browser(db: None, club: OwnProvider) -> Client:
    """The browser of someone who is not logged in, on a site with a provider."""
    return browser_of()
