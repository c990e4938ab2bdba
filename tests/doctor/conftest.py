"""Installations with something wrong."""

from contextlib import ExitStack

import pytest

from tests.rules import RATES
from tests.small_disk import mounted
from tests.store_state import client_of
from voting_site.embedded import open_store


@pytest.fixture
def public(settings):
    """A site that is set up for readers elsewhere, as the documentation says."""
    settings.SITE_URL = "https://news.example.org"
    settings.BEHIND_PROXY = True
    settings.TRUSTED_PROXIES = ["127.0.0.1"]
    settings.LIMITS = RATES
    return settings


@pytest.fixture
def disk(tmp_path):
    """A disk with 200 MB."""
    with mounted(tmp_path / "disk", megabytes=200) as folder:
        yield folder


@pytest.fixture
def private(settings):
    """A function that lets the site use an empty store of its own, with these settings; returns its client."""
    with ExitStack() as stack:

        def start(folder, **config):
            options = {name.replace("_", "-"): value for name, value in config.items()}
            settings.STORE_URL = stack.enter_context(open_store(folder, config=options))
            return client_of(settings.STORE_URL)

        yield start
