import re

from django.test import Client

from articles.domain.articles import Choice
from tests.factories import browser_of, post_as


def test_the_profile_shows_the_members_articles_newest_first(site_store, article, alice):
    second = post_as(site_store, alice, "Another", "https://example.org/b").id

    text = Client().get("/users/alice/").content.decode()

    assert text.index(f'id="article-{second}"') < text.index(f'id="article-{article}"')


def test_a_profile_shows_the_viewers_votes_on_its_articles(site_store, article, bob):
    site_store.votes.cast(article, bob.pk, Choice.OPPOSE)

    text = browser_of(bob).get("/users/alice/").content.decode()

    assert re.search(r'class="oppose"[^>]*aria-pressed="true"', text)
    assert not re.search(r'class="vote"[^>]*aria-pressed="true"', text)


def test_another_spelling_redirects_to_the_name(site_store, alice):
    response = Client().get("/users/ALICE/?page=2")

    assert (response.status_code, response.headers["Location"]) == (302, "/users/alice/?page=2")


def test_unknown_members_are_404(site_store):
    for name in ("nobody", "a:b", "%00", "x" * 500):
        assert Client().get(f"/users/{name}/").status_code == 404
