"""Feeds and the sitemap: the same for everyone, so that the site writes them once for all readers."""

from threading import Thread

import pytest
from django.conf import settings
from django.test import Client

from articles.domain.limits import Rate
from articles.kept_pages import middleware
from articles.kept_pages.sharing import Turns
from articles.page_store import Address
from articles.views import crawlers
from articles.web import feeds
from tests.factories import browser_of
from tests.internals import failing, meanwhile
from tests.pages.copies import make_old

FEEDS = [
    "/feeds/front.atom", "/feeds/hot.rss", "/feeds/top/week.atom",
    "/feeds/groups/python.atom?min_points=1", "/feeds/users/alice.rss", "/feeds/search.atom?q=title",
]  # fmt: skip


@pytest.mark.parametrize("path", FEEDS)
def test_a_feed_is_written_once_a_minute_for_all_readers(kept, article, bob, path):
    first = Client().get(path)
    chinese = {"Accept-Language": "zh-hans"}
    with failing(feeds, "written", WRITTEN_AGAIN):
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
    (copy_of_feed,) = kept.glob("[!.]*")
    made_at = copy_of_feed.stat().st_mtime
    assert Client().get(path, headers={"If-None-Match": etag}).status_code == 304
    refresher().keep_waiting(0)

    assert copy_of_feed.stat().st_mtime > made_at


@pytest.mark.parametrize(("seconds", "is_new"), [(50, False), (61, True), (-3600, True)])
def test_a_feed_is_written_again_after_a_minute(kept, article, alice, site_store, seconds, is_new):
    Client().get("/feeds/newest.atom")
    site_store.articles.post(alice.pk, "alice", "Just posted", "https://example.org/new")
    make_old(kept, seconds)

    assert ("Just posted" in Client().get("/feeds/newest.atom").content.decode()) == is_new


@pytest.mark.parametrize("path", ["search.atom", "groups/none.atom", "front.atom?min_points=x"])
def test_a_refused_feed_is_not_kept(kept, article, path):
    assert Client().get(f"/feeds/{path}").status_code in (400, 404)
    assert not kept.exists() or not list(kept.glob("[!.]*"))


def test_feeds_with_different_queries_and_hosts_are_different(kept, article, settings):
    settings.ALLOWED_HOSTS = ["testserver", "other.example"]
    Client().get("/feeds/front.atom")

    assert b"A title" not in Client().get("/feeds/front.atom?min_points=9").content
    assert b"http://other.example/" in Client().get("/feeds/front.atom", headers={"Host": "other.example"}).content


def test_an_unknown_host_is_refused_for_feeds_too(kept, article):
    Client().get("/feeds/front.atom")

    assert Client().get("/feeds/front.atom", headers={"Host": "evil.example"}).status_code == 400


WRITTEN_AGAIN = AssertionError("it is written again")


# One copy for all spellings of an address

SITEMAPS = ["/sitemap.xml", "/sitemap-lists.xml", "/sitemap-articles-1.xml"]


@pytest.mark.parametrize("path", SITEMAPS)
def test_the_sitemap_is_written_once_a_minute_for_all_readers(kept, article, bob, path):
    first = Client().get(path)
    with failing(crawlers, "repository", WRITTEN_AGAIN):
        shared = [Client().get(f"{path}?x=1"), browser_of(bob).get(path), Client().head(path)]
        assert Client().get(path, headers={"If-None-Match": first["ETag"]}).status_code == 304

    assert [response.content for response in shared] == [first.content, first.content, b""]
    assert {response["Cache-Control"] for response in shared} == {first["Cache-Control"]}


@pytest.mark.parametrize(
    ("path", "other"),
    [
        ("front.atom", "front.atom?x=1"),
        ("front.atom", "front.atom?hide="),
        ("front.atom", "front.atom?x=" + "y" * 3000),
        ("front.atom?min_points=7", "front.atom?x=1&min_points=0007&min_points=7"),
        ("front.atom?min_points=1&hide=a,b", "front.atom?hide=b%2Ca,a&min_points=1"),
        ("search.atom?q=title&group=python", "search.atom?order=time&group=python&q=title"),
    ],
)
def test_what_a_feed_does_not_read_makes_no_other_copy(kept, article, path, other):
    first = Client().get(f"/feeds/{path}")

    with failing(feeds, "written", WRITTEN_AGAIN):
        assert Client().get(f"/feeds/{other}").content == first.content
    assert len(list(kept.glob("[!.]*"))) == 1


def test_a_head_request_keeps_the_feed_for_later_ones(kept, article):
    assert Client().head("/feeds/newest.atom").content == b""

    with failing(feeds, "written", WRITTEN_AGAIN):
        assert b"A title" in Client().get("/feeds/newest.atom").content


def test_only_what_is_written_counts_against_the_limit(kept, article, limits):
    limits(feeds=Rate(3, 86_400))
    paths = [f"/feeds/front.atom?min_points={n}" for n in range(5)]
    again = [Client().get(paths[0]).status_code for _ in range(9)]
    different = [Client().get(path).status_code for path in paths]

    assert again == [200] * 9
    assert different == [200, 200, 200, 429, 429]


# Turns


@pytest.fixture
def another(monkeypatch):
    """Another reader for whom the only process is writing a feed, and who may be given the time to be done."""
    turns = Turns(1)
    monkeypatch.setattr(middleware, "Turns", lambda _most: turns)
    monkeypatch.setattr(middleware, "PATIENCE", 0.01)
    return turns


ATOM = "/feeds/newest.atom"


def address(path, query=""):
    return Address("http://testserver", path, query, settings.LANGUAGE_CODE)


@pytest.mark.parametrize("being_written", [ATOM, "/feeds/hot.atom"])
def test_a_feed_without_a_copy_is_503_while_too_many_are_written(kept, article, another, being_written):
    assert another.take(address(being_written), 0)
    response = Client().get(ATOM)

    assert response.status_code == 503
    assert response["Retry-After"] == "2"
    assert response.content.decode() == "Many feeds are being generated right now. Please try again in a moment.\n"
    assert Client().get("/about/").status_code == 200
    another.end(address(being_written))
    assert Client().get(ATOM).status_code == 200


@pytest.mark.parametrize("being_written", [ATOM, "/feeds/hot.atom"])
def test_an_older_copy_is_served_if_many_are_written(kept, article, alice, site_store, another, being_written):
    first = Client().get(ATOM)
    make_old(kept, 61)
    assert another.take(address(being_written), 0)
    site_store.articles.post(alice.pk, "alice", "Just posted", "https://example.org/new")
    older = Client().get(ATOM)

    assert (older.status_code, older.content) == (200, first.content)
    assert Client().get(ATOM, headers={"If-None-Match": first["ETag"]}).status_code == 304


def test_a_reader_who_waited_gets_the_feed_that_another_has_written(kept, article, another):
    content = Client().get(ATOM).content
    (copy_of_feed,) = kept.glob("[!.]*")
    hidden = copy_of_feed.rename(kept / ".hidden")
    another.take(address(ATOM), 0)

    with meanwhile(another, "take", lambda: hidden.rename(copy_of_feed)):
        assert Client().get(ATOM).content == content


@pytest.mark.parametrize(
    "path", ["/feeds/search.atom", "/feeds/groups/none.atom", "/sitemap-articles-9.xml", ATOM]
)
def test_a_turn_ends_whatever_the_answer(kept, article, another, path):
    Client().get(path)

    assert another.take(address("/other"), 0)


def test_two_pages_are_written_at_once_and_each_by_one_reader():
    turns = Turns(2)
    assert [turns.take(address(path), 0) for path in ("/a", "/a", "/b", "/c")] == [True, False, True, False]
    turns.end(address("/a"))

    assert turns.take(address("/c"), 0)


def test_a_reader_waits_for_the_end_of_another_page():
    turns, taken = Turns(1), []
    turns.take(address("/a"), 0)
    reader = Thread(target=lambda: taken.append(turns.take(address("/b"), 60)))
    reader.start()
    turns.end(address("/a"))
    reader.join(60)

    assert taken == [True]


def test_a_reader_who_waited_for_the_same_page_has_no_turn(monkeypatch):
    turns = Turns(2)
    turns.take(address("/a"), 0)
    monkeypatch.setattr(turns._changed, "wait", lambda _: turns._writing.clear() or True)

    assert not turns.take(address("/a"), 60)
    assert turns.take(address("/a"), 0)
