"""A site for members: without an account, no address shows or tells anything of its content."""

import re
from importlib.util import find_spec, module_from_spec
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from django.db import DatabaseError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Token
from accounts.web.form_pages import is_for_members
from articles import site
from articles.models import SiteSetting, SiteText
from articles.page_store import PageStore
from articles.web import limits, wiring
from articles.web.caching import FEEDS
from articles.web.reading import OPEN
from tests.factories import actor, browser_of, comment_on, member, post_as
from tests.internals import failing
from tests.pages.telling import ABSENT, METHODS, addresses, asked, view_at
from tests.routes import routes


@pytest.fixture
def content(site_store, carol, settings):
    """Content whose every word has "zyx", and nothing else has; return the samples that name it."""
    poster = member("zyxposter")
    site_store.groups.create("zyxslug", "Zyxgroup", actor(carol))
    site_store.groups.describe("zyxslug", "Zyxdescription", actor(carol))
    shown = post_as(site_store, poster, "Zyxtitle", "https://zyxhost.example/a", ["zyxslug"], text="Zyxtext")
    comment = comment_on(site_store, shown.id, "Zyxcomment", poster.pk)
    for name in ("welcome", "about"):
        SiteText.objects.create(name=name, language="en", text=f"Zyx{name}")
    for name in ("rules", "privacy", "imprint"):
        SiteText.objects.create(name=name, language="en", text=f"Our {name}.")
    site.forget_texts()
    names = {"slug": "zyxslug", "slugs": "zyxslug", "name": poster.username, "host": "zyxhost.example"}
    return {"article_id": str(shown.id), "comment_id": str(comment)} | names


@pytest.fixture
def closed(content, settings):
    settings.READING = "members"
    return content


@pytest.fixture
def reader(bob):
    """Bob, who has a private feed."""
    bob.feed_key = "a key"
    bob.save()
    return bob


def is_open(path):
    match = view_at(path)
    return match is not None and match.view_name in OPEN


@pytest.mark.hostile
def test_no_address_tells_anything_of_the_content(closed):
    for path in addresses(closed):
        for method in METHODS:
            assert "zyx" not in asked(path, method).lower(), (method, path)
    for path in ("/login/?article=1&choice=vote", "/signup/?next=/articles/1/", "/about/", "/search/?q=zyx"):
        assert "Zyx" not in asked(path), path


def test_every_address_is_closed_unless_it_is_listed(closed):
    for path in addresses(closed):
        answer, name = Client().get(path), getattr(view_at(path), "view_name", "")
        if is_open(path):
            continue
        if path.startswith("/api/") and path != "/api/docs":
            assert answer.status_code == 401, path
            assert answer.json()["error"]["code"] == "login-required"
        elif name in FEEDS or name.startswith("articles:sitemap"):
            assert answer.status_code == 404, path
        elif not (name == "" and answer.status_code == 301):  # a missing slash is added
            assert answer["Location"] == f"/login/?next={quote(path, safe='')}", path


@pytest.mark.deep
def test_what_exists_and_what_does_not_are_answered_alike(closed):
    for route in routes():
        if not set(ABSENT).isdisjoint(route.parameters):
            there, not_there = route.path(**closed), route.path(**ABSENT)
            for method in METHODS:
                assert asked(there, method) == asked(not_there, method), (method, there)


def test_closed_addresses_are_answered_without_the_store_and_its_limits(closed, outage):
    before = {path: asked(path) for path in addresses(closed) if not is_open(path)}
    outage()

    with failing(limits, "take", AssertionError("a limit is taken")):
        assert {path: asked(path) for path in before} == before


def test_ways_to_sign_in_are_open(site_store):
    """What needs no login on an open site is in the table, unless it shows content."""
    for path in (route.path() for route in routes()):
        match = view_at(path)
        if match and match.app_name == "accounts" and match.view_name not in OPEN:
            answer = Client().get(path)
            is_guarded = answer.status_code == 405 and is_for_members(match.func)
            assert is_guarded or answer.get("Location", "").startswith("/login/?next="), path


def test_open_pages_show_the_texts_that_must_be_public_and_lead_nowhere_else(closed):
    assert "Our rules." in Client().get("/rules/").text
    about = Client().get("/about/").text
    assert "Our privacy." in about
    assert "Our imprint." in about
    links = set(re.findall(r'(?:href|action)="(/(?!static)[^"?#]*)', about + Client().get("/login/").text))
    assert links == {
        "/", "/login/", "/login/passkey/", "/signup/", "/password/reset/", "/about/", "/rules/",
        "/preferences/", "/manifest.webmanifest",
    }  # fmt: skip
    assert Client().get("/robots.txt").text == "User-agent: *\nDisallow: /\n"
    assert "description" not in Client().get("/login/").text


def test_health_tells_only_up_or_down(closed, settings):
    assert Client().get("/readyz").text == "ready\n"
    settings.STORE_URL = "unix:///nowhere/store.sock"
    wiring.forget_repositories()

    answer = Client().get("/readyz")

    assert (answer.status_code, answer.text) == (503, "not ready\n")


def test_forms_keep_what_was_typed_until_the_login(closed, alice):
    article = closed["article_id"]
    vote = Client().post(f"/articles/{article}/vote/", {"choice": "vote", "next": "/newest/"})
    comment = Client().post(f"/articles/{article}/comments/", {"text": "A long comment"})
    theme = Client().post("/preferences/", {"theme": "dark", "next": "/login/"})
    group = Client().post("/preferences/", {"hide": "zyxslug", "next": "/login/"})
    script = Client().post(f"/articles/{article}/save/", {"save": "1"}, headers={"Accept": "application/json"})

    assert f"article={article}&choice=vote" in vote["Location"]
    assert 'name="typed"' in comment.text
    assert theme.cookies["theme"].value == "dark"
    assert group.status_code == 400
    assert (script.status_code, script.json()["address"]) == (401, "/login/?next=%2F")


def test_members_see_everything_as_before(content, settings, alice, site_store):
    def page(path):
        """Return a page without feeds and tokens."""
        varying = r'csrfmiddlewaretoken" value="\w+"|<p class="feeds">.*?</p>|<link rel="alternate"[^>]*>'
        return re.sub(varying, "", browser.get(path).text, flags=re.DOTALL).split()

    browser, paths = (browser_of(alice), ("/", "/newest/", "/articles/1/", "/groups/", "/users/zyxposter/"))
    [browser.get(path) for path in paths]
    before = [page(path) for path in paths]
    with CaptureQueriesContext(connection) as queries_before:
        browser.get("/")
    settings.READING = "members"

    assert [page(path) for path in paths] == before
    with CaptureQueriesContext(connection) as queries:
        assert "Zyxtitle" in browser.get("/").text
    assert len(queries) == len(queries_before)


def test_the_api_takes_a_token_or_a_session(closed, alice):
    _token, plaintext = Token.objects.issue(alice, "reader", scopes=("read",))
    bearer = {"Authorization": f"Bearer {plaintext}"}

    assert Client().get("/api/articles", headers=bearer).json()["articles"][0]["title"] == "Zyxtitle"
    assert "Zyxtitle" in browser_of(alice).get("/api/articles").text
    assert browser_of(alice).get("/api/openapi.json").status_code == 200
    for wrong in ("Bearer avs_wrong", "Basic eA==", "Bearer"):
        for path in ("/api/articles", "/api/articles/1", "/api/openapi.json", "/api/nothing"):
            assert Client().get(path, headers={"Authorization": wrong}).status_code == 401, path


FEED_PATHS = ("/feeds/newest.{}", "/feeds/groups/zyxslug.{}", "/feeds/users/zyxposter.{}", "/feeds/comments.{}")


@pytest.mark.parametrize("kind", ["atom", "rss", "json"])
def test_feeds_are_read_by_the_members_key_until_it_is_replaced(closed, kept, reader, alice, kind):
    for path in (path.format(kind) for path in FEED_PATHS):
        answer = Client().get(f"{path}?key={reader.feed_token}")
        assert "Zyx" in answer.text
        assert "private" in answer["Cache-Control"]
        assert reader.feed_token not in answer.text
        assert path not in answer.text.replace(f"<id>http://testserver{path}</id>", "")
        headers = {"If-None-Match": answer["ETag"]}
        assert Client().get(f"{path}?key={reader.feed_token}", headers=headers).status_code == 304
        refused = [Client().get(path + query, headers=headers) for query in ("", "?key=", "?key=2-x", "?key=é")]
        refused.append(browser_of(alice).get(path))
        assert {(one.status_code, one.text) for one in refused} == {(404, refused[0].text)}

    former = reader.feed_token
    browser_of(reader).post("/settings/../following/feed/", {"feed": "new"})
    browser_of(reader).post("/following/feed/", {"feed": "new"})
    assert Client().get(f"/feeds/newest.{kind}?key={former}").status_code == 404
    reader.refresh_from_db()
    assert Client().get(f"/feeds/newest.{kind}?key={reader.feed_token}").status_code == 200
    reader.is_active = False
    reader.save()
    assert Client().get(f"/feeds/newest.{kind}?key={reader.feed_token}").status_code == 404


def test_members_share_the_copy_of_a_feed_also_while_the_store_is_away(closed, kept, reader, alice, outage):
    alice.feed_key = "another"
    alice.save()
    first = Client().get(f"/feeds/newest.atom?key={reader.feed_token}")
    outage()

    assert Client().get(f"/feeds/newest.atom?key={alice.feed_token}").content == first.content
    assert Client().get("/feeds/newest.atom").status_code == 404


def test_pages_show_members_the_addresses_of_feeds_with_their_own_key(closed, reader, alice, site_store):
    key = f"key={reader.feed_token}"
    for path in ("/", "/articles/1/", "/users/zyxposter/", "/groups/zyxslug/", "/search/?q=zyxtitle"):
        page = browser_of(reader).get(path).text
        feeds = set(re.findall(r'href="(/feeds/[^"]*)"', page))
        assert feeds, path
        for feed in feeds:
            assert feed.endswith(key), feed
            assert Client().get(feed.replace("&amp;", "&")).status_code == 200, feed
        without = browser_of(alice).get(path).text
        assert "/feeds/" not in without
        assert "Subscribe with a private feed" in without
    for browser, is_there in ((browser_of(reader), True), (browser_of(alice), False)):
        browser.post("/following/groups/zyxslug/", {"follow": "follow"})
        assert (key in browser.get("/following/groups.opml").text) == is_there
        assert ("with a key of your own" in browser.get("/following/feed/").text) != is_there


def test_a_feeds_redirect_keeps_the_key(closed, reader):
    moved = Client().get(f"/feeds/users/ZYXPOSTER.atom?hide=a&key={reader.feed_token}")

    assert moved["Location"] == f"/feeds/users/zyxposter.atom?hide=a&key={reader.feed_token}"
    assert "Zyxtitle" in Client().get(moved["Location"]).text


PAGES = (
    "/", "/newest/", "/articles/1/", "/users/zyxposter/", "/moderation/",
    "/groups/zyxslug/", "/feeds/hot.atom",
)  # fmt: skip


def test_copies_from_before_are_not_shown_even_while_the_store_is_away(content, kept, outage, settings, alice):
    for path in PAGES:
        assert Client().get(path).status_code == 200
    settings.READING = "members"
    answers = [asked(path) for path in PAGES]
    outage()

    assert [asked(path) for path in PAGES] == answers
    assert "zyx" not in "".join(answers).lower()
    assert browser_of(alice).get("/").status_code == 503


def test_the_next_request_in_another_process_knows_what_an_administrator_chose(content, kept):
    assert Client().get("/").status_code == 200
    SiteSetting.objects.create(name="READING", text="members")  # by another process
    assert Client().get("/").status_code == 200
    PageStore(kept).retract(None)

    assert Client().get("/").status_code == 302
    assert Client().get("/feeds/hot.atom").status_code == 404


def test_while_a_choice_cannot_be_read_a_process_that_starts_asks_for_a_login(settings):
    spec = find_spec("articles.configuration.choices")
    process = module_from_spec(spec)
    spec.loader.exec_module(process)
    process.apps = SimpleNamespace(get_model=unavailable)

    assert process.chosen.is_for_members
    settings.FIXED_SETTINGS = settings.FIXED_SETTINGS | {"READING": "everyone"}
    assert not process.chosen.is_for_members


def unavailable(*_):
    raise DatabaseError
