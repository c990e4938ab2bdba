"""Commands, which run with the store of the site."""

from tests.commands.conftest import run, site_store  # noqa: F401 - fixtures
