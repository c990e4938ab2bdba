"""Commands, which run with the store of the site, and its repository on one shard and on four."""

import pytest

from articles.web import wiring
from tests.commands.conftest import manage, run, site_store  # noqa: F401 - fixtures


@pytest.fixture(params=[pytest.param(1, marks=pytest.mark.deep), 4], ids=["1 shard", "4 shards"])
def site(request, settings, new_site):
    """The repository of commands, on so many shards."""
    settings.STORE_SHARDS = max(request.param, settings.STORE_SHARDS)
    new_site()
    return wiring.patient_repository()
