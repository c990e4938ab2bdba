"""Every route of the site: methods that must not write, missing and foreign tokens, visitors without a login."""

import re

import pytest
from django.conf import settings as site_settings
from django.test import Client

from accounts.models import User
from articles.domain.moderation_log import Action
from tests import extras
from tests.attacks.fields import FIELDS
from tests.cast import MODERATOR
from tests.factories import browser_of, member
from tests.routes import FOR_PROGRAMS, SAMPLES, Route, routes_of_pages
from tests.store_state import ARTICLE_KEY, KEY_LIKE, count_keys, key_names, written

OPEN_TO_READERS = {
    "/login/", "/login/link/x-y/", "/login/passkey/", "/login/passkey/options/", "/login/second/",
    "/signup/name/", "/signup/", "/password/reset/", "/preferences/", "/logout/", "/administration/first/",
}  # fmt: skip
OPEN_TO_READERS |= {"/password/reset/MQ/x-y/", "/password/"}  # a link or a password that has just been changed

FOREIGN = ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"})

BAD_IDS = (
    "0", "-1", "1e9", str(2**63), "01", "1.0", "１", "abc", "..", "%00", ARTICLE_KEY, "+1", "1_0", "9" * 400,
    "999999", "%0a1", "1%0a", "%C2%B2", "%E2%80%8B1", "1;2", "*",
)  # fmt: skip


def writes(repository) -> tuple[dict[str, object], list[object]]:
    """Return what members have written to the store, and all accounts."""
    fields = ("pk", "username", "password", "email", "is_staff", "theme", "language", "is_active")
    return written(repository), list(User.objects.order_by("pk").values_list(*fields))


def forms(carol: User) -> list[Route]:
    """Return the routes that accept forms."""
    browser = browser_of(carol)
    routes = (route for route in routes_of_pages() if route.path() not in FOR_PROGRAMS)
    return [route for route in routes if browser.post(route.path()).status_code not in (404, 405)]


def test_no_other_method_than_post_writes(site_store, article, carol):
    before, browser = writes(site_store), browser_of(carol)

    for route in routes_of_pages():
        for method in ("GET", "HEAD", "PUT", "DELETE", "TRACE"):
            answer = browser.generic(
                method, route.path(), headers={"X-HTTP-Method-Override": "POST"}, data=b"choice=oppose"
            )
            assert answer.status_code < 500, (method, route.pattern)
            assert method in ("GET", "HEAD") or answer.status_code in (404, 405), (method, route.pattern)
            answer.close()

    assert writes(site_store) == before


def test_no_form_is_accepted_without_its_token_or_from_elsewhere(site_store, article, carol, mallory, monkeypatch):
    site_store.moderation_log.note(Action.BLOCK_HOST, MODERATOR, "spam.example", "It sells pills")
    (noted,) = site_store.moderation_log.get_page().entries[:1]
    monkeypatch.setitem(SAMPLES, "moment", f"{noted.at:.3f}")
    before, accepting = writes(site_store), forms(carol)
    page = browser_of(mallory, strict=True).get("/settings/").text
    stolen = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[0]
    ways = [({}, {}), ({"csrfmiddlewaretoken": "x" * 64}, {}), ({"csrfmiddlewaretoken": stolen}, {})]
    ways += [({}, headers) for headers in FOREIGN]

    assert len(accepting) >= 20
    for route in accepting:
        browser = browser_of(carol, strict=True)
        browser.get("/settings/")
        for token, headers in ways:
            answer = browser.post(route.path(), FIELDS | token, headers=headers)
            is_wrong = not headers and browser.get(route.path()).status_code == 400  # without a query
            assert answer.status_code == (400 if is_wrong else 403), (route.pattern, token, headers)

    assert writes(site_store) == before


def test_writing_needs_a_valid_login(site_store, article, alice, carol):
    visitors = {"anonymous": Client(), "unknown session": Client(), "logged out": browser_of(alice)}
    visitors["unknown session"].cookies[site_settings.SESSION_COOKIE_NAME] = "0" * 32
    visitors["logged out"].post("/logout/")
    for name in ("inactive", "deleted"):
        user = member(name)
        visitors[name] = browser_of(user)
        User.objects.filter(pk=user.pk).update(is_active=False)
    accepting, before = forms(carol), writes(site_store)

    for who, browser in visitors.items():
        for route in accepting:
            if route.path() in OPEN_TO_READERS:
                continue
            answer = browser.post(route.path(), FIELDS)
            place = answer.get("Location", "")
            assert answer.status_code in (401, 403) or place.startswith("/login/"), (who, route.pattern, place)

    assert writes(site_store) == before


def test_a_member_changes_nothing_that_is_not_theirs(site_store, article, carol, mallory):
    """Someone else's article, groups, and fields that no form has."""
    before, browser = writes(site_store), browser_of(mallory)
    own = {
        "/articles/1/vote/", "/articles/1/save/", "/articles/1/comments/", "/comments/1000001/vote/", "/post/",
        "/logout/", "/mine/held/1/withdraw/", "/preferences/", "/settings/", "/settings/about/",
        "/settings/email/", "/settings/invitations/",
        "/settings/invitations/1/revoke/", "/settings/sessions/", "/settings/sessions/x/end/",
        "/settings/mail/", "/settings/mail/link/",
        "/settings/tokens/",
    }  # fmt: skip

    for route in forms(carol):
        if route.path() not in OPEN_TO_READERS | own and not route.path().startswith(
            ("/settings/tokens/", "/settings/security/", *extras.all_of("OWN"))
        ):
            answer = browser.post(route.path(), FIELDS)
            assert answer.status_code in (200, 400, 403, 404), route.pattern

    assert writes(site_store) == before


def test_no_odd_id_reaches_an_article_or_creates_a_key(site_store, article, carol):
    browser = browser_of(carol)
    browser.get("/articles/999999/")  # which makes the salt of the day, unless this process has one
    before, ids = key_names(site_store), ("article_id", "comment_id", "number")
    reads = [route for route in routes_of_pages() if not set(ids).isdisjoint(route.parameters)]
    paths = [route.path(**dict.fromkeys(ids, bad)) for route in reads for bad in BAD_IDS]
    paths += [f"/api/articles/{bad}{rest}" for bad in BAD_IDS for rest in ("", "/ranking", "/log", "/comments")]
    paths += [f"/api/comments/{bad}{rest}" for bad in BAD_IDS for rest in ("", "/replies")]

    for number, path in enumerate(paths):
        assert browser.get(path).status_code in (404, 405), path
        assert number % 5 or browser.post(path, FIELDS).status_code in (404, 405, 415), path

    assert key_names(site_store) == before


@pytest.mark.parametrize(
    "path", ["/", "/newest/", "/hot/", "/top/", "/groups/python/", "/search/", "/moderation/"]
)
def test_odd_parameters_of_lists_create_no_key_and_show_no_other_list(site_store, article, path):
    Client().get(path)
    before = count_keys(site_store)
    odd = ("-1", "0", "1e9", "abc", "１", "1.0", str(2**63), *KEY_LIKE, "{x}", "*", "\0", "../", "9" * 500)
    others = ("order", "range", "limit", "group", "after", "q", "hide")
    for value in odd:
        answer = Client().get(path, dict.fromkeys(others, value))
        assert answer.status_code in (200, 301, 302, 400, 404), value
        if path != "/search/":  # without words it has no pages
            assert Client().get(path, {"page": value}).status_code in (400, 404), value

    assert count_keys(site_store) <= before + 1, "but for a ranking that is kept for a minute"


def test_no_private_place_answers_a_stranger(site_store, article, bob):
    """Files beside the site, the operator's pages, the administration."""
    hidden = (
        "/.git/config", "/.git/HEAD", "/.env", "/var/", "/var/store/appendonly.aof", "/db.sqlite3",
        "/backup.zip", "/static/../manage.py", "/static/%2e%2e/manage.py", "/static/.source",
        "/requirements.txt", "/server-status", "/metrics", "/operation/", "/admin/", "/admin/accounts/user/",
        "/admin/login/../", "/__debug__/", "/debug", "/moderation/views/", "/settings/data/",
        "/mine/voted/", "/moderation/groups/", "/wp-login.php",
    )  # fmt: skip
    for browser in (
        Client(REMOTE_ADDR="203.0.113.7"),
        Client(REMOTE_ADDR="203.0.113.7", HTTP_X_FORWARDED_FOR="127.0.0.1"),
    ):
        for path in hidden:
            answer = browser.get(path)
            assert answer.status_code in (302, 403, 404), path
            assert answer.status_code != 302 or "/login/" in answer["Location"], path
            assert b"Traceback" not in answer.content
    for path in ("/operation/", "/moderation/views/", "/moderation/groups/", "/admin/accounts/user/"):
        assert browser_of(bob).get(path).status_code in (403, 302), path


def test_another_host_is_refused_whichever_header_names_it(site_store):
    assert Client().get("/", headers={"Host": "evil.example"}).status_code == 400
    page = Client().get("/", headers={"X-Forwarded-Host": "evil.example", "X-Forwarded-Server": "evil.example"})
    assert page.status_code == 200
    assert "evil.example" not in page.text
    feed = Client().get("/feeds/newest.atom", headers={"X-Forwarded-Host": "evil.example"})
    assert "evil.example" not in feed.text
