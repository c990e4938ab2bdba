"""The site in every language."""

import pytest

from articles.repository import Repository


@pytest.fixture(autouse=True)
def _empty_store(site_store: Repository) -> None:
    """Begin each test with an empty store."""
