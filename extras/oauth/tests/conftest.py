"""A browser in which alice is logged in."""

import pytest
from django.test import Client

from accounts.models import User
from tests.factories import browser_of


@pytest.fixture
def as_alice(alice: User) -> Client:
    return browser_of(alice)
