"""Hosts whose links cannot be posted."""

import re

import pytest

from articles.models import BlockedHost
from articles.site import hosts
from tests.factories import browser_of, member

SENTENCE = "Links to spam.example cannot be posted here (reason: it copies other sites)."


@pytest.fixture
def blocked(db):
    BlockedHost.objects.create(host="spam.example", reason="it copies other sites")
    hosts.forget()


def errors(response):
    return re.findall(r"<li>([^<]+)</li>", response.text)


@pytest.mark.parametrize("host", ["spam.example", "www.spam.example", "a.b.SPAM.example", "spam.example.:8080"])
def test_links_to_a_blocked_host_and_its_sub_domains_are_refused_with_the_reason(site_store, blocked, alice, host):
    response = browser_of(alice).post("/post/", {"title": "A title", "link": f"https://{host}/page"})

    assert errors(response) == [SENTENCE]
    assert site_store.imports.count() == 0


def test_other_hosts_and_the_current_link_of_an_article_stay(site_store, article, blocked, alice):
    other = browser_of(alice).post("/post/", {"title": "A title", "link": "https://notspam.example/"})
    assert other.status_code == 302
    BlockedHost.objects.create(host="example.org", reason="closed")
    hosts.forget()

    kept = {"title": "Better", "link": "https://example.org/a"}
    assert browser_of(alice).post(f"/articles/{article}/edit/", kept).status_code == 302
    moved = browser_of(alice).post(f"/articles/{article}/edit/", kept | {"link": "https://example.org/b"})
    assert errors(moved) == ["Links to example.org cannot be posted here (reason: closed)."]


def test_the_admin_site_takes_a_host_or_a_link(site_store):
    browser = browser_of(member("root", is_staff=True, is_superuser=True))
    for typed in ("https://www.Spam.example/page", "例子.example", "not a host"):
        browser.post("/admin/articles/blockedhost/add/", {"host": typed, "reason": "spam", "_save": "Save"})

    assert set(BlockedHost.objects.values_list("host", flat=True)) == {"spam.example", "xn--fsqu00a.example"}
