import copy
import io
import logging.config
import re
from functools import partial
from html import unescape
from urllib.parse import unquote

import pytest
from django.core.cache import cache
from django.db import OperationalError, connection
from django.test import Client, RequestFactory

from articles.domain.errors import StoreUnavailable
from articles.views.lists import pages
from articles.web import wiring
from articles.web.error_pages import failed
from tests.factories import browser_of, post
from tests.figures import value
from tests.internals import failing
from tests.store_state import damage_votes, read_timeout


def test_an_unknown_address_is_404_with_a_page(site_store):
    response = Client().get("/nowhere/")

    assert response.status_code == 404
    assert "Page not found" in response.content.decode()


@pytest.mark.parametrize(("language", "said"), [("en", "is damaged"), ("zh-hans", "已损坏")])
def test_a_page_that_meets_damage_says_so_and_no_other_does(site_store, article, language, said):
    other = post(site_store, 2)
    damage_votes(site_store, article)

    damaged = Client().get(f"/articles/{article}/", headers={"accept-language": language})

    assert damaged.status_code == 503
    assert said in damaged.content.decode()
    assert Client().get(f"/articles/{other}/").status_code == 200


def test_an_unavailable_store_is_503_with_retry_after(site_store, settings):
    settings.STORE_URL = "unix:///nowhere/store.sock"
    wiring.forget_repositories()

    for path in ("/", "/newest/", "/groups/", "/articles/1/"):
        response = Client().get(path)
        assert (response.status_code, response.headers["Retry-After"]) == (503, "5")
        assert "Nothing is lost" in response.content.decode()
    for path in ("/feeds/front.atom", "/sitemap.xml"):
        assert Client().get(path).status_code == 503
    assert Client().get("/robots.txt").status_code == 200
    assert Client().get("/readyz").status_code == 503
    assert Client().get("/healthz").status_code == 200


def test_pages_use_the_configured_store_timeout_and_commands_a_longer_one(site_store, settings):
    settings.STORE_TIMEOUT_MS = 1234
    wiring.forget_repositories()

    waits = read_timeout(wiring.repository()), read_timeout(wiring.patient_repository())

    assert waits == (1.234, 60)


def test_the_site_recovers_by_itself(site_store, settings):
    good, settings.STORE_URL = settings.STORE_URL, "unix:///nowhere/store.sock"
    wiring.forget_repositories()
    with pytest.raises(StoreUnavailable):
        wiring.repository()

    settings.STORE_URL = good

    assert Client().get("/").status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        *(("get", path, 503) for path in ("/", "/articles/1/", "/settings/", "/settings/data/", "/post/")),
        *(("post", path, 503) for path in ("/preferences/", "/articles/1/vote/", "/settings/delete/", "/login/")),
        ("get", "/nowhere/", 404),
        ("get", "/preferences/", 405),
    ],
)
def test_an_unavailable_database_is_503_for_members_to_retry(site_store, article, bob, method, path, status):
    browser = browser_of(bob)
    cache.clear()

    with connection.execute_wrapper(_locked):
        response = getattr(browser, method)(path, {"theme": "dark", "choice": "vote"})

    assert response.status_code == status
    assert response.headers.get("Retry-After") == ("5" if status == 503 else None)
    assert "Log in" in response.text


def _locked(*_):
    raise OperationalError("database is locked")


def test_readers_without_an_account_do_not_notice(site_store, article):
    with connection.execute_wrapper(_locked):
        for path in ("/", "/newest/", "/articles/1/", "/search/?q=title", "/feeds/front.atom", "/pulse/?ids=1"):
            assert Client().get(path).status_code == 200
        assert Client().post("/preferences/", {"theme": "dark"}).status_code == 302


def test_an_unexpected_error_shows_no_details_and_is_counted(site_store):
    counted = partial(value, "site_requests_total", view="articles:front", method="GET", status="500")
    before = counted()
    with failing(pages, "place_in", RuntimeError("secret detail")):
        response = Client(raise_request_exception=False).get("/")

    assert response.status_code == 500
    assert "Something went wrong" in response.content.decode()
    assert "secret" not in response.content.decode()
    assert counted() == before + 1


@pytest.mark.parametrize(
    "path",
    [
        "/articles/1/vote/", "/logout/", "/preferences/", "/settings/tokens/",
    ],
)  # fmt: skip
def test_a_wrong_method_is_405_with_a_page_and_the_allowed_methods(site_store, path):
    response = Client().get(path)

    assert (response.status_code, response.headers["Allow"]) == (405, "POST")
    assert "This address is for forms only" in response.content.decode()
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"


def test_a_request_that_is_too_large_is_413(site_store, settings):
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100

    response = Client().post("/login/", {"username": "x" * 200})

    assert response.status_code == 413
    assert "This is too large" in response.content.decode()


def test_the_failure_page_needs_no_store_reader_or_database(settings, django_db_blocker):
    settings.STORE_URL = "unix:///nowhere/store.sock"
    wiring.forget_repositories()
    request = RequestFactory().get("/", headers={"cookie": "theme=dark"})

    with django_db_blocker.block():
        page = failed(request).content.decode()

    assert "Something went wrong" in page
    assert 'data-theme="dark"' in page
    assert "css/site.css" in page


def test_a_refusal_logs_one_line(site_store, bob, settings, monkeypatch):
    console = logging.config.DictConfigurator(copy.deepcopy(settings.LOGGING))
    written, name = io.StringIO(), settings.LOGGING["handlers"]["console"]["filters"][0]
    handler = logging.StreamHandler(written)
    handler.addFilter(console.configure_filter(settings.LOGGING["filters"][name]))
    monkeypatch.setattr(logging.getLogger(), "handlers", [handler])

    browser_of(bob).get("/moderation/views/")
    browser_of(bob, strict=True).post("/post/", {})

    told = written.getvalue().splitlines()
    assert len(told) == 2, told
    assert "Forbidden (Permission denied): /moderation/views/" in told[0]


def test_browsers_that_request_an_icon_are_redirected_to_it(site_store):
    response = Client().get("/favicon.ico")

    assert (response.status_code, response["Location"]) == (302, "/static/favicon.svg")
    assert response["Cache-Control"] == "public, max-age=3600"
    assert not response.cookies


@pytest.mark.parametrize(
    ("path", "headers", "told"),
    [
        ("/admin/accounts/user/add/", {}, "The form was open for too long"),
        ("/post/", {"Origin": "https://evil.example"}, "from another site"),
        ("/post/", {"Sec-Fetch-Site": "same-site"}, "from another site"),
    ],
)
def test_a_form_that_is_not_returned_says_why(site_store, bob, path, headers, told):
    response = browser_of(bob, strict=True).post(path, {"title": "What I typed"}, headers=headers)

    assert response.status_code == 403
    assert told in response.text
    assert "What I typed" not in response.text


def addresses_in(page):
    """Return where the page leads a reader next: its links, and the return addresses of its forms."""
    found = re.findall(r'next=([^"&]*)|name="next" value="([^"]*)"|class="button" href="([^"]*)"', page)
    return {unquote(unescape(one or other or third)).partition("#")[0] for one, other, third in found}


@pytest.mark.parametrize("who", ["reader", "member"])
@pytest.mark.parametrize(
    ("method", "path", "fields"),
    [
        ("post", "/articles/1/vote/", {"choice": "sideways", "next": "/newest/"}),
        ("post", "/articles/1/vote/", {"choice": "sideways", "next": "/newest/", "more": "x" * 1_000_000}),
        ("post", "/articles/1/vote/", {"choice": "sideways"}),
        ("post", "/articles/999/vote/", {"choice": "vote", "next": "/newest/"}),
        ("post", "/preferences/", {"theme": "pink", "next": "/newest/"}),
        ("post", "/nowhere/", {}), ("post", "/newest/", {}), ("get", "/articles/1/vote/", {}),
        ("get", "/preferences/", {}), ("get", "/logout/", {}),
    ],
)  # fmt: skip
def test_no_error_page_links_to_an_address_only_of_forms(site_store, article, bob, who, method, path, fields):
    browser = browser_of(bob) if who == "member" else Client()

    page = getattr(browser, method)(path, fields)

    assert page.status_code >= 300
    for address in addresses_in(page.text):
        assert Client().get(address).status_code != 405, address
