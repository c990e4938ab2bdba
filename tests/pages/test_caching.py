"""What caches may store of the pages, and what is counted nevertheless."""

import pytest
import time_machine
from django.http import HttpResponse
from django.test import Client

from accounts.models import User
from articles.domain.articles import Choice
from articles.web.caching import RULES
from tests.factories import browser_of
from tests.routes import routes

FIREFOX = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}
LISTS = (
    "/", "/newest/", "/hot/", "/top/", "/groups/", "/groups/python/", "/users/alice/", "/moderation/",
    "/search/?q=title",
)  # fmt: skip
OF_READERS = "public, max-age=0, s-maxage=10"


@pytest.fixture(autouse=True)
def noon():
    """Freeze the ages shown on pages."""
    with time_machine.travel("2030-03-01T12:00:00Z", tick=False) as clock:
        yield clock


def varies(response):
    return {name.strip() for name in response["Vary"].split(",")}


def test_lists_for_readers_without_an_account_may_be_shared_for_seconds(site_store, article):
    for path in LISTS:
        response = Client().get(path)

        assert response["Cache-Control"] == OF_READERS, path
        assert varies(response) == {"Accept-Encoding", "Accept-Language", "Cookie"}, path
        assert response["ETag"].startswith('W/"'), path
        assert not response.cookies, path


def test_pages_in_the_readers_language_vary_by_language(site_store, article):
    for path in [
        *LISTS,
        "/about/", "/articles/1/", "/articles/1/why/", "/login/", "/nowhere/", "/groups/nope/", "/?page=99",
        "/feeds/front.atom?hide=!!", "/feeds/groups/nope.atom", "/sitemap-articles-9.xml",
        "/sitemap-articles-x.xml",
        "/api/docs", "/api/articles", "/api/articles/1", "/api/groups", "/api/nothing", "/api/articles?x",
        "/api/me",
    ]:  # fmt: skip
        for wish, language in (("zh-CN", "zh-hans"), ("en", "en")):
            response = Client().get(path, headers={"Accept-Language": wish})

            assert response["Content-Language"] == language, path
            assert {"Accept-Language", "Cookie"} <= varies(response), path


def test_pages_in_the_sites_own_language_name_it(site_store, article):
    for path in ["/feeds/front.atom", "/feeds/top/day.rss", "/robots.txt", "/sitemap.xml", "/api/openapi.json"]:
        assert Client().get(path, headers={"Accept-Language": "zh-CN"})["Content-Language"] == "en", path


def test_pages_of_a_member_are_private(site_store, article, bob):
    for path in [*LISTS, "/articles/1/"]:
        response = browser_of(bob).get(path)

        assert response["Cache-Control"] == "private, no-cache", path
        assert "ETag" not in response, path
        assert "Cookie" in varies(response), path


def test_no_cache_may_store_any_other_response_to_a_member(site_store, article, carol):
    """Include errors, which caches store by default: each page names the member and holds the forms' token."""
    for path in [
        "/nowhere/", "/groups/nope/", "/groups/python+nope/", "/?page=99", "/sitemap-articles-9.xml",
        "/articles/99/", "/articles/1/vote/", "/articles/1/edit/", "/articles/1/views/", "/moderation/views/",
        "/post/", "/moderation/groups/", "/moderation/groups/python/", "/users/ALICE/", "/api/docs",
        "/pulse/", "/pulse/?ids=1", "/feeds/front.atom?hide=!!", "/search/?page=0", "/static/nothing.js",
        "/mine/voted/", "/settings/", "/settings/data/", "/settings/delete/", "/api/articles", "/api/nothing",
    ]:  # fmt: skip
        for member in (carol, User.objects.get(username="alice")):
            kept = browser_of(member).get(path)["Cache-Control"]
            assert "private" in kept, path
            assert "public" not in kept, path


@pytest.mark.parametrize("cookie", ["sessionid", "messages"])
def test_pages_of_a_reader_with_a_session_or_a_message_are_not_shared(site_store, article, cookie):
    browser = Client()
    browser.cookies[cookie] = "x"

    assert browser.get("/")["Cache-Control"] == "private, no-cache"


def test_a_list_that_sets_a_cookie_is_private(site_store, article, monkeypatch):
    from articles.views.lists import pages

    def answer(*args):
        response = HttpResponse(*args)
        response.set_cookie("theme", "dark")
        return response

    monkeypatch.setattr(pages, "HttpResponse", answer)

    assert Client().get("/")["Cache-Control"] == "private, no-cache"


@pytest.mark.parametrize("path", LISTS)
def test_a_client_that_has_the_page_gets_304_until_it_changes(site_store, article, alice, bob, path):
    tag = Client().get(path)["ETag"]

    same = Client().get(path, headers={"If-None-Match": tag})
    assert (same.status_code, same.content, same["ETag"]) == (304, b"", tag)
    assert same["Cache-Control"] == OF_READERS
    assert varies(same) == {"Accept-Encoding", "Accept-Language", "Cookie"}

    if path not in ("/groups/", "/moderation/", "/hot/"):
        site_store.votes.cast(article, bob.pk, Choice.VOTE)
        assert Client().get(path, headers={"If-None-Match": tag}).status_code == 200


@pytest.mark.parametrize("path", ["/", "/feeds/front.atom"])
def test_pages_have_the_same_validator_compressed_or_not_and_for_head(site_store, article, path):
    plain = Client().get(path)
    packed = Client().get(path, headers={"Accept-Encoding": "gzip"})
    head = Client().head(path)

    assert packed["Content-Encoding"] == "gzip"
    assert plain["ETag"] == packed["ETag"] == head["ETag"]
    known = {"If-None-Match": plain["ETag"]}
    assert Client().head(path, headers=known).status_code == 304
    assert Client().get(path, headers=known | {"Accept-Encoding": "gzip"}).status_code == 304


def test_a_readers_preferences_change_the_validator(site_store, article):
    dark = Client()
    dark.cookies["theme"] = "dark"

    assert dark.get("/")["ETag"] != Client().get("/")["ETag"]
    assert dark.get("/")["Cache-Control"] == OF_READERS


def test_an_article_page_is_revalidated_each_time_and_a_304_counts_as_a_view(site_store, article):
    path = f"/articles/{article}/"
    tags = []
    for address in ("203.0.113.1", "203.0.113.1", "198.51.100.2"):
        sent = {"If-None-Match": tags[-1]} if tags else {}
        response = Client(REMOTE_ADDR=address).get(path, headers=FIREFOX | sent)
        tags.append(response["ETag"])
        assert response["Cache-Control"] == "private, no-cache"

    assert tags[0] == tags[1] != tags[2]
    assert site_store.articles.get(article).pv == 2


def test_other_responses_are_left_alone(site_store):
    for path in ["/nowhere/", "/?page=99", "/groups/nope/", "/login/", "/healthz"]:
        assert "s-maxage" not in Client().get(path).get("Cache-Control", ""), path


def test_every_rule_refers_to_an_existing_page():
    assert RULES.keys() <= {route.name for route in routes()}
