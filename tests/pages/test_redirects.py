"""Other spellings of an address redirect to the canonical one and keep the query."""

import pytest

from tests.cast import PASSWORD, password_of
from tests.factories import browser_of

pytestmark = pytest.mark.deep


def location(answer, status=301):
    assert answer.status_code == status
    return answer["Location"]


@pytest.mark.parametrize(
    "path",
    [
        "/healthz", "/readyz", "/metrics", "/robots.txt", "/sitemap.xml", "/sitemap-lists.xml", "/favicon.ico",
        "/sitemap-articles-1.xml", "/feeds/front.atom", "/feeds/top/day.rss", "/feeds/groups/python.atom",
        "/feeds/users/alice.atom", "/feeds/search.atom", "/api/docs", "/api/openapi.json",
    ],
)  # fmt: skip
def test_an_extra_slash_is_removed_and_the_query_kept(site_store, path):
    assert location(browser_of().get(f"{path}/?a=1&b=%2F")) == f"{path}?a=1&b=%2F"
    assert location(browser_of().head(f"{path}/")) == path


@pytest.mark.parametrize(
    "path", ["/healthz//", "/nothing/", "/api/nothing/", "/api/docs/more/", "/api/hot/", "/example.org/healthz/"]
)
def test_an_address_unknown_without_its_slash_too_is_404(site_store, path):
    assert browser_of().get(path).status_code == 404


@pytest.mark.parametrize("path", ["/newest", "/groups/python", "/articles/1", "/users/alice", "/mine/voted"])
def test_a_missing_slash_is_added_and_the_query_kept(site_store, path):
    assert location(browser_of().get(f"{path}?page=2&x=%2F")) == f"{path}/?page=2&x=%2F"


def test_api_addresses_redirect_to_its_documentation_with_the_query(site_store):
    assert location(browser_of().get("/api/?x=1"), 302) == "/api/docs?x=1"


FORMS = {
    "/articles/1/vote/": {"choice": "vote"},
    "/articles/1/save/": {"saved": "save"},
    "/articles/1/mute/": {"muted": "mute"},
    "/following/groups/python/": {"follow": "follow"},
    "/users/alice/block/": {"blocked": "block"},
    "/preferences/": {"theme": "dark"},
    "/login/": {"username": "bob", "password": password_of("bob")},
    "/signup/": {"username": "newcomer", "password1": PASSWORD, "password2": PASSWORD},
    "/logout/": {},
}
"""Forms that lead back to a page which they name."""


@pytest.mark.parametrize("path", FORMS)
@pytest.mark.parametrize("target", ["//evil.example/", "https://evil.example/", "/\\evil.example", "https:evil"])
def test_no_form_leads_to_another_site(site_store, article, bob, path, target):
    """All spellings of such an address are in tests/accounts/test_login_intent.py."""
    reader = browser_of(None if path in ("/login/", "/signup/") else bob)

    answer = reader.post(path, FORMS[path] | {"next": target})

    assert answer.status_code == 302
    assert "evil" not in answer["Location"]
