from django.test import Client

from tests.factories import post_as


def test_the_profile_shows_the_members_articles_newest_first(site_store, article, alice):
    second = post_as(site_store, alice, "Another", "https://example.org/b").id

    text = Client().get("/users/alice/").content.decode()

    assert text.index(f'id="article-{second}"') < text.index(f'id="article-{article}"')


def test_another_spelling_redirects_to_the_name(site_store, alice):
    response = Client().get("/users/ALICE/?page=2")

    assert (response.status_code, response.headers["Location"]) == (302, "/users/alice/?page=2")


def test_unknown_members_are_404(site_store):
    for name in ("nobody", "a:b", "%00", "x" * 500):
        assert Client().get(f"/users/{name}/").status_code == 404
