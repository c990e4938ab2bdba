import re

import pytest
from django.test import Client

from articles.domain.readership import Visit
from tests.factories import browser_of, post_as
from tests.pages.lists import rows
from tests.store_state import set_clock

HOUR = 3600


@pytest.fixture
def clock(site_store):
    """Set the site's clock to some hours ago."""
    now = site_store.store.now()

    def ago(hours):
        set_clock(site_store, now - hours * HOUR)

    return ago


def post(site_store, user, name, groups=()):
    return post_as(site_store, user, name, f"https://e.org/{name}", groups).id


def read(site_store, article, times=1):
    """Read the article as that many visitors."""
    now = site_store.store.now()
    site_store.pageviews.record_many([(article, Visit(f"{n:016x}"), now) for n in range(times)])


@pytest.fixture
def aged(site_store, alice, clock):
    """Return articles by their age in hours, each read once."""
    ids = {}
    for hours in (200, 100, 48, 2):
        clock(hours)
        ids[hours] = post(site_store, alice, f"posted-{hours}-hours-ago")
    clock(0)
    for article in ids.values():
        read(site_store, article)
    return ids


def text_of(path, user=None):
    return re.sub(r"\s+", " ", browser_of(user).get(path).content.decode())


def words_of(path):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text_of(path)))


def test_the_hot_list_is_ordered_by_hotness_and_shows_visitors(site_store, alice):
    quiet, busy, _unread = (post(site_store, alice, name) for name in ("quiet", "busy", "unread"))
    read(site_store, quiet, 1)
    read(site_store, busy, 1200)
    site_store.hot.rescore()

    assert rows(Client().get("/hot/")) == [busy, quiet]
    text = words_of("/hot/")
    assert re.search(r"\b1 visitor\b", text)
    assert re.search(r"1,\d{3} visitors", text)


@pytest.mark.parametrize(
    ("query", "ages"),
    [
        ("", [2, 48, 100, 200]), ("?range=all", [2, 48, 100, 200]), ("?range=7d", [2, 48, 100]),
        ("?range=72h", [2, 48]), ("?range=24h", [2]),
    ],
)  # fmt: skip
def test_a_period_contains_only_articles_posted_within_it(aged, query, ages):
    assert rows(Client().get(f"/hot/{query}")) == [aged[hours] for hours in ages]


def test_an_empty_hot_list_says_how_articles_get_onto_it(site_store, article):
    text = text_of("/hot/")

    assert "Nothing has been read yet" in text
    assert 'class="button" href="/newest/"' in text


def test_the_hot_list_shows_when_it_was_last_rescored(site_store, article):
    read(site_store, article)
    site_store.hot.rescore()

    assert "Updated just now" in words_of("/hot/")
    assert "Updated just now" in words_of("/groups/python/?order=hot")
    assert "Updated" not in words_of("/")


def test_a_reader_of_a_stale_list_triggers_a_rescore(site_store, article, clock):
    read(site_store, article)
    clock(-1)

    Client().get("/hot/")

    assert site_store.hot.get_refreshed_at() == pytest.approx(site_store.store.now(), abs=0.001)


def test_the_link_of_a_row_names_its_article(site_store, article):
    assert f'<a href="https://example.org/a" data-article="{article}"' in text_of("/")
