"""Programs in pages of other origins: what they may ask, as whom, and which answers they can read."""

from contextlib import ExitStack
from itertools import product

import pytest
from django.core.cache import cache
from django.db import OperationalError, connection

from accounts.models import Token
from articles.domain.articles import Choice
from articles.domain.extras import other_origins
from articles.domain.limits import Rate
from articles.web import wiring
from tests import extras
from tests.factories import browser_of
from tests.routes import FOR_PROGRAMS, routes

pytestmark = pytest.mark.deep

ORIGINS = {
    "none": {},
    "same": {"origin": "http://testserver"},
    "other": {"origin": "https://elsewhere.example"},
    "null": {"origin": "null"},
    "neighbour": {"origin": "http://testserver:8001", "sec-fetch-site": "same-site"},
}
OWN = ("none", "same")

OPEN = (
    "/api/articles", "/api/articles/1", "/api/me", "/api/nothing", "/api/openapi.json",
    "/feeds/newest.atom",
)  # fmt: skip
CLOSED = ("/", "/articles/1/", "/api/docs", "/login/", "/articles/1/vote/", "/settings/data/", "/healthz")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")

SENT_BY_PROGRAMS = ("Authorization", "Cache-Control", "Content-Type", "If-None-Match", "Pragma", "User-Agent")
"""Browsers ask for each of these; some apps send the second, to get no shared copy, and the last."""

ALLOWED = "Access-Control-Allow-Origin"
PREFLIGHT = {"access-control-request-method": "PUT", "access-control-request-headers": "authorization"}


@pytest.fixture
def site(site_store, article, alice, bob):
    return site_store


@pytest.fixture
def bearer(alice):
    return {"authorization": f"Bearer {Token.objects.issue(alice, 'a program')[1]}"}


def may_read(answer):
    assert answer.headers.get("Access-Control-Allow-Credentials") is None
    assert answer.headers.get(ALLOWED) in (None, "*")
    return ALLOWED in answer.headers


@pytest.mark.parametrize("origin", ORIGINS)
def test_a_preflight_is_answered_for_open_addresses_alone(site, bob, bearer, origin):
    for browser, own in ((browser_of(), {}), (browser_of(bob), {}), (browser_of(), bearer)):
        for path, method in product((*OPEN, *CLOSED), METHODS):
            headers = ORIGINS[origin] | PREFLIGHT | {"access-control-request-method": method} | own
            answer = browser.options(path, headers=headers)

            assert may_read(answer) is (path in OPEN), (path, method)
            if path in OPEN:
                assert (answer.status_code, answer.content) == (204, b"")
                assert method in answer["Access-Control-Allow-Methods"].split(", ")
                assert {*SENT_BY_PROGRAMS} <= {*answer["Access-Control-Allow-Headers"].split(", ")}
                assert "X-CSRFToken" not in answer["Access-Control-Allow-Headers"]
                assert int(answer["Access-Control-Max-Age"]) >= 7200
            else:
                assert answer.status_code in (302, 403, 405), path


def test_a_preflight_needs_neither_store_nor_accounts(site, settings, django_assert_num_queries):
    settings.STORE_URL = "unix:///nowhere/store.sock"
    wiring.forget_repositories()

    with django_assert_num_queries(0):
        answer = browser_of().options("/api/articles/1/vote", headers=ORIGINS["other"] | PREFLIGHT)

    assert (answer.status_code, may_read(answer)) == (204, True)


def test_options_without_its_headers_is_a_method_like_others(site):
    answer = browser_of().options("/api/articles", headers=ORIGINS["other"])

    assert (answer.status_code, answer["Allow"], may_read(answer)) == (405, "GET, HEAD, POST", True)


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("who", ["nobody", "session", "token", "token and session", "preference"])
def test_an_answer_that_other_origins_can_read_depends_on_no_cookie(site, bob, bearer, origin, who):
    browser = browser_of(bob if "session" in who else None)
    if who == "preference":
        browser.cookies["hidden"] = "python"
    headers = ORIGINS[origin] | (bearer if "token" in who else {})
    name = "alice" if "token" in who else "bob" if who == "session" and origin in OWN else None
    site.votes.cast(1, bob.pk, Choice.OPPOSE)

    for path, method in product(OPEN, ("GET", "HEAD")):
        answer = browser.generic(method, path, headers=headers)

        if path == "/feeds/newest.atom":
            assert may_read(answer), "every reader gets the same feed"
        else:
            has_cookies = who in ("session", "token and session", "preference")
            assert may_read(answer) is not (has_cookies and origin in OWN), path
        if path == "/api/me":
            assert answer.status_code == (200 if name else 401)
        if path == "/api/articles/1" and method == "GET":
            assert answer.json()["choice"] == {"alice": "vote", "bob": "oppose", None: "none"}[name]


def test_another_origin_is_not_told_that_a_copy_of_a_members_answer_is_current(site, bob):
    """A browser would show its copy, which has the member's choices, by the headers of the 304."""
    site.votes.cast(1, bob.pk, Choice.OPPOSE)
    own = browser_of(bob).get("/api/articles/1")
    known = {"if-none-match": own["ETag"]}

    answers = [
        who.get("/api/articles/1", headers=ORIGINS["other"] | known) for who in (browser_of(bob), browser_of())
    ]

    assert browser_of(bob).get("/api/articles/1", headers=known).status_code == 304
    assert [(one.status_code, one.json()["choice"]) for one in answers] == [(200, "none")] * 2


@pytest.mark.parametrize("origin", [one for one in ORIGINS if one not in OWN])
def test_a_session_from_another_origin_changes_nothing_and_a_token_does(site, bob, bearer, origin):
    browser = browser_of(bob, strict=True)
    page = browser.get("/post/").content.decode()
    csrf = {"x-csrftoken": page.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]}

    def vote(**headers):
        return browser.put("/api/articles/1/vote", '{"choice": "oppose"}', "application/json", headers=headers)

    refused = vote(**ORIGINS[origin], **csrf)
    assert (refused.status_code, may_read(refused)) == (401, True)
    assert site.articles.get(1, bob.pk).choice == "none"
    voted = vote(**ORIGINS[origin], **bearer)
    assert (voted.status_code, may_read(voted), voted.json()["choice"]) == (200, True, "oppose")
    assert vote(**csrf).json()["choice"] == "oppose", "the site's own pages still use the session"


def test_another_origins_readers_count_no_views(site):
    def view(**headers):
        return browser_of().post("/api/views", '{"articleId": 1}', "application/json", headers=headers)

    assert view(**ORIGINS["other"]).status_code == 401
    assert view(**ORIGINS["same"]).status_code == 200


def test_every_refusal_can_be_read(site, settings, bob, bearer, limits):
    def locked(*_):
        raise OperationalError("database is locked")

    def ask(method="GET", path="/api/me", body="", kind="application/json", **headers):
        answer = browser_of().generic(method, path, body, kind, headers=ORIGINS["other"] | headers)
        assert may_read(answer), (method, path, answer.status_code)
        assert "Retry-After" in answer["Access-Control-Expose-Headers"]
        return answer.status_code

    token = Token.objects.issue(bob, "a reader", scopes="read")[1]
    assert ask() == 401
    assert ask(authorization="Bearer wrong") == 401
    assert ask("PUT", "/api/articles/1/vote", "{}", authorization=f"Bearer {token}") == 403
    assert ask(path="/api/articles/99") == 404
    assert ask(path="/feeds/nothing.atom") == 404
    assert ask("PATCH", "/api/articles") == 405
    assert ask("PUT", "/api/articles/1/vote", "x" * 1_000_001, **bearer) == 413
    assert ask("PUT", "/api/articles/1/vote", "x", "text/plain", **bearer) == 415
    assert ask(path="/api/articles?page=x") == 400
    assert ask(path="/api/articles?page=%ff") == 400
    assert ask(host="evil.example") == 400
    settings.READING = "members"
    assert ask(path="/api/articles") == 401
    assert ask(path="/feeds/newest.atom") == 404
    assert ask(path="/api/articles", **bearer) == 200
    settings.READING = "everyone"
    limits(api=Rate(1, 600))
    assert [ask(**bearer), ask(**bearer)] == [200, 429]
    settings.STORE_URL = "unix:///nowhere/store.sock"
    wiring.forget_repositories()
    assert ask(path="/api/articles") == 503
    cache.clear()
    with ExitStack() as stack:
        stack.enter_context(connection.execute_wrapper(locked))
        assert ask(**bearer) == 503


def test_a_members_feed_can_be_read_with_its_key_alone(site, settings, bob):
    settings.READING = "members"
    bob.feed_key = "some"
    bob.save()
    token = bob.feed_token

    for path in (f"/feeds/newest.atom?key={token}", f"/following/{token}.atom"):
        answer = browser_of(bob).get(path, headers=ORIGINS["other"])
        assert (answer.status_code, may_read(answer)) == (200, True), path


OF_EXTRAS = {path for paths in [*extras.all_of("READ_BY_PROGRAMS"), FOR_PROGRAMS] for path in paths}


def test_only_the_api_and_feeds_are_open(site, bob):
    """No page with a form's token, and no file of a member, can be read: nor any address added later."""
    for route in routes():
        path = "/" + route.path().lstrip("/")
        answer = browser_of().get(path, headers=ORIGINS["other"])
        is_feed = route.pattern.endswith("<feed_kind:kind>")
        is_for_programs = "nodeinfo" in path or path in OF_EXTRAS
        is_record = path.startswith(other_origins()) and path.endswith(".json")
        is_api = path.startswith("/api/") and path != "/api/docs"
        assert may_read(answer) is (is_api or is_feed or is_record or is_for_programs), path


def test_nothing_is_open_if_the_operator_wants(site, settings):
    settings.OTHER_ORIGINS = False

    for path in OPEN:
        assert not may_read(browser_of().get(path, headers=ORIGINS["other"]))
        assert not may_read(browser_of().options(path, headers=ORIGINS["other"] | PREFLIGHT))
