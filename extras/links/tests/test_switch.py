"""Which sites fetch titles."""

import pytest

from extras.links.switch import is_on

FETCHES = [
    ({}, False),
    ({"SITE_URL": "https://news.example.org"}, True),
    ({"SITE_URL": "http://localhost:8000"}, False),
    ({"SITE_URL": "https://news.internal"}, False),
    ({"SITE_URL": "http://10.0.0.7"}, False),
    ({"SITE_URL": "https://news.example.org", "ALLOW_PRIVATE_LINKS": True}, False),
    ({"SITE_URL": "https://news.example.org", "FETCH_TITLES": False}, False),
    ({"ALLOW_PRIVATE_LINKS": True, "FETCH_TITLES": True}, True),
]


@pytest.mark.parametrize(("given", "fetches"), FETCHES)
def test_titles_are_fetched_by_default_for_a_site_with_a_public_address(settings, given, fetches):
    for name, value in ({"SITE_URL": "", "ALLOW_PRIVATE_LINKS": False, "FETCH_TITLES": ""} | given).items():
        setattr(settings, name, value)

    assert is_on() is fetches
