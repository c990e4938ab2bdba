"""Feeds and the sitemap: the same for everyone, so that the site writes them once for all readers."""

import time

import pytest
from django.test import Client

from articles.feeds import answers
from tests.factories import browser_of
from tests.pages.copies import make_old
from tests.store_state import set_clock

FEEDS = [
    "/feeds/front.atom",
    "/feeds/hot.rss",
    "/feeds/top/week.atom",
    "/feeds/groups/python.atom?min_points=1",
    "/feeds/users/alice.rss",
    "/feeds/search.atom?q=title",
]


@pytest.mark.parametrize("path", FEEDS)
def test_a_feed_is_written_once_a_minute_for_all_readers(kept, article, bob, monkeypatch, path):
    first = Client().get(path)
    monkeypatch.setattr(answers, "written", refuse)
    chinese = {"Accept-Language": "zh-hans"}
    shared = [Client().get(path, headers=chinese), browser_of(bob).get(path), Client().head(path)]

    assert first.status_code == 200
    assert [response.status_code for response in shared] == [200, 200, 200]
    assert [response.content for response in shared] == [first.content, first.content, b""]
    for name in ("Content-Type", "ETag", "Cache-Control", "Vary", "Content-Language"):
        assert {response[name] for response in shared} == {first[name]}, name


@pytest.mark.parametrize("path", FEEDS)
def test_a_reader_who_has_the_feed_gets_304_without_the_store(kept, outage, article, path):
    etag = Client().get(path)["ETag"]
    outage()

    known = Client().get(path, headers={"If-None-Match": etag})
    other = Client().get(path, headers={"If-None-Match": '"another"'})

    assert (known.status_code, known.content, known["ETag"]) == (304, b"", etag)
    assert known["Cache-Control"] == "public, max-age=300"
    assert other.status_code == 200


def test_the_answer_that_a_feed_is_unchanged_leads_to_a_copy(kept, article, refresher):
    path = "/feeds/front.atom"
    etag = Client().get(path)["ETag"]
    make_old(kept, 61)
    (copy_of_feed,) = kept.iterdir()
    assert Client().get(path, headers={"If-None-Match": etag}).status_code == 304
    refresher().keep_waiting(0)

    assert time.time() - copy_of_feed.stat().st_mtime < 60


def test_a_reader_who_has_the_feed_by_its_date_gets_304(kept, article, site_store):
    path = "/feeds/front.atom"
    Client().get(path)
    make_old(kept, 61)
    set_clock(site_store, time.time() + 2)  # a feed has a date from the next second on
    modified = Client().get(path)["Last-Modified"]

    assert Client().get(path, headers={"If-Modified-Since": modified}).status_code == 304
    assert Client().get(path, headers={"If-Modified-Since": "Mon, 05 Jan 2015 10:00:00 GMT"}).status_code == 200


@pytest.mark.parametrize(("seconds", "is_new"), [(50, False), (61, True), (-3600, True)])
def test_a_feed_is_written_again_after_a_minute(kept, article, alice, site_store, seconds, is_new):
    Client().get("/feeds/newest.atom")
    site_store.articles.post(alice.pk, "alice", "Just posted", "https://example.org/new")
    make_old(kept, seconds)

    assert ("Just posted" in Client().get("/feeds/newest.atom").content.decode()) == is_new


@pytest.mark.parametrize("path", ["search.atom", "groups/none.atom", "front.atom?min_points=x"])
def test_a_refused_feed_is_not_kept(kept, article, path):
    assert Client().get(f"/feeds/{path}").status_code in (400, 404)
    assert not kept.exists() or not list(kept.iterdir())


def test_feeds_with_different_queries_and_hosts_are_different(kept, article, settings):
    settings.ALLOWED_HOSTS = ["testserver", "other.example"]
    Client().get("/feeds/front.atom")

    assert b"A title" not in Client().get("/feeds/front.atom?min_points=9").content
    assert b"http://other.example/" in Client().get("/feeds/front.atom", headers={"Host": "other.example"}).content


def test_an_unknown_host_is_refused_for_feeds_too(kept, article):
    Client().get("/feeds/front.atom")

    assert Client().get("/feeds/front.atom", headers={"Host": "evil.example"}).status_code == 400


def refuse(*_):
    raise AssertionError("the feed is written again")
