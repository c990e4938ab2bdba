"""The moderators' list of removed articles."""

import re

from django.test import Client

from articles import wiring
from articles.domain.moderation.log import Actor
from tests.factories import browser_of, post_as

PAGE = "/moderation/removed/"


def text_of(user):
    return " ".join(re.sub(r"<[^>]+>", " ", browser_of(user).get(PAGE).text).split())


def test_moderators_see_what_is_removed_by_whom_and_why(site_store, article, alice, carol):
    withdrawn = post_as(site_store, alice, "Second thoughts", "https://e.org/withdrawn").id
    post_as(site_store, alice, "Listed", "https://e.org/listed")
    site_store.articles.remove(article, Actor(carol.pk, "carol"), "an advertisement")
    site_store.articles.edit(article, Actor(carol.pk, "carol"), "Milder", "https://example.org/a", moderator=True)
    site_store.articles.withdraw(withdrawn, Actor(alice.pk, "alice"))

    text = text_of(carol)

    assert "Milder https://example.org/a Posted by alice" in text
    assert "Removed by carol just now Reason: an advertisement Restore" in text
    assert "Withdrawn by its poster just now Restore" in text
    assert "withdrawn by the poster" not in text
    assert "Listed" not in text
    assert f'href="/articles/{article}/restore/"' in browser_of(carol).get(PAGE).text
    site_store.articles.restore(article, Actor(carol.pk, "carol"), "a mistake")
    assert "Milder" not in text_of(carol)


def test_the_last_posted_come_first_in_pages(site_store, alice, carol, settings):
    settings.ARTICLES_PER_PAGE = 5
    wiring.forget_repositories()
    ids = [post_as(site_store, alice, f"Article {n}", f"https://e.org/{n}").id for n in range(6)]
    for n in ids:
        site_store.articles.remove(n, Actor(carol.pk, "carol"), "spam")
    browser = browser_of(carol)

    shown = [re.findall(r'<h2><a href="/articles/(\d+)/', browser.get(f"{PAGE}?page={n}").text) for n in (1, 2)]

    assert [list(map(int, page)) for page in shown] == [ids[:0:-1], ids[:1]]
    assert browser.get(f"{PAGE}?page=3").status_code == 404
    assert browser.get(f"{PAGE}?page=999999").status_code == 404


def test_only_those_who_may_remove_see_the_list(site_store, alice, carol):
    assert browser_of(alice).get(PAGE).status_code == 403
    assert Client().get(PAGE)["Location"].startswith("/login/")
    assert PAGE not in browser_of(alice).get("/moderation/").text
    assert PAGE in browser_of(carol).get("/moderation/").text
    assert "No articles are removed." in text_of(carol)
