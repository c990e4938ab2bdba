"""`manage.py version`."""

import django

from tests.store_state import NOWHERE, server_info
from voting_site import __version__


def test_the_versions_are_printed(run, site_store):
    lines = run("version").splitlines()

    assert lines[0].split() == ["site", __version__]
    assert lines[2].split() == ["Django", django.get_version()]
    assert lines[3].split() == ["store", "Valkey", server_info(site_store)["valkey_version"]]


def test_a_store_that_is_away_is_no_error(run, settings):
    settings.STORE_URL = NOWHERE

    assert run("version").splitlines()[3].split() == ["store", "does", "not", "answer"]
