"""The site as a public server runs it."""

import shutil

import pytest

from tests.deploy.visitor import HOST
from tests.site_process import Site, stopped_site

PUBLIC = {"SITE_URL": f"https://{HOST}", "BEHIND_PROXY": "1", "TRUSTED_PROXIES": "127.0.0.1", "WEB_WORKERS": "1"}


@pytest.fixture(scope="session")
def filled_data(tmp_path_factory, static_files):
    """The data directory of a stopped site with content."""
    return stopped_site(tmp_path_factory, "filled", static_files)


@pytest.fixture(scope="module")
def public_site(tmp_path_factory, filled_data):
    """A running site that expects a proxy on this machine."""
    folder = tmp_path_factory.mktemp("public") / "data"
    shutil.copytree(filled_data, folder)
    site = Site(folder, **PUBLIC)
    try:
        site.wait_until_up()
        yield site
    finally:
        assert site.stop() == 0
