"""The page that tells readers how the site works."""

from django.test import Client


def words(settings, **changed):
    for name, value in changed.items():
        setattr(settings, name, value)
    return " ".join(Client().get("/about/").text.split())


def test_the_page_shows_the_current_rules(site_store, settings):
    text = words(settings, VOTING_WINDOW_DAYS=3, EDIT_MINUTES=1, REPOST_HOURS=36)

    for part in (
        "Voting on an article closes 3 days after posting",
        "after 15 minutes, an edit is marked",
        "Voting on a comment closes 3 days after it was posted.",
        "For 1 minute the poster can edit or withdraw the article.",
        "posted in the last 36 hours",
        "by one visitor within 10 minutes",
    ):
        assert part in text


def test_every_page_links_to_it_and_caches_may_store_it(site_store):
    response = Client().get("/about/")

    assert "public" in response["Cache-Control"]
    assert not response.cookies
    assert 'href="/about/"' in Client().get("/").text
    assert "/about/" in Client().get("/sitemap-lists.xml").text
