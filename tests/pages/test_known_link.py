import pytest
from django.test import Client

from tests.factories import actor, browser_of


def known(browser, link):
    return browser.get("/post/known/", {"link": link})


@pytest.mark.parametrize("link", ["https://example.org/a", " HTTP://EXAMPLE.org/a/?utm_source=x#top"])
def test_a_posted_link_is_recognised_in_any_spelling(site_store, article, bob, link):
    response = known(browser_of(bob), link)

    html = response.json()["html"]
    assert f'<a href="/articles/{article}/">This link was posted just now: “A title”</a>' in html
    assert html.count("A title") == 1, "not once more among the earlier articles"
    assert "no-store" in response.headers["Cache-Control"]


@pytest.mark.parametrize(
    "link", ["https://example.org/b", "", "https://", "javascript:alert(1)", "x" * 3000, "\0"]
)
def test_other_links_and_invalid_links_are_not_recognised(site_store, article, bob, link):
    response = known(browser_of(bob), link)

    assert (response.status_code, response.json()) == (200, {})


def test_posting_the_link_of_a_removed_article_leads_to_that_article(site_store, article, bob, carol):
    site_store.articles.remove(article, actor(carol), "spam")

    assert f'href="/articles/{article}/"' in known(browser_of(bob), "https://example.org/a").json()["html"]


def test_only_members_get_an_answer(site_store, article):
    response = known(Client(), "https://example.org/a")

    assert (response.status_code, response.json()) == (401, {})
