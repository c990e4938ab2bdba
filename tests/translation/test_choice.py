"""The language a reader gets, and the queries that choosing it costs."""

import pytest
from django.core import mail
from django.db import OperationalError, connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.translation import override

from articles import middleware
from articles.middleware import ReaderMiddleware
from tests.factories import browser_of
from tests.mail_backends import wait_until_sent

CHINESE, ENGLISH = '<html lang="zh-Hans"', '<html lang="en"'


def prefer(user, language):
    user.language = language
    user.save(update_fields=["language"])
    return user


@pytest.mark.parametrize(
    "asked", ["zh", "zh-CN", "zh-Hans", "zh-SG", "zh-Hans-CN", "zh-cn,en;q=0.8", "fr,zh;q=0.1"]
)
def test_a_browser_that_prefers_chinese_gets_it(site_store, asked):
    answer = Client().get("/", headers={"Accept-Language": asked})

    assert answer.text.startswith("<!doctype html>\n" + CHINESE)
    assert answer["Content-Language"] == "zh-hans"
    assert "首页" in answer.text


@pytest.mark.parametrize(
    "asked",
    ["zh-TW", "zh-HK", "zh-MO", "zh-Hant", "zh-Hant-HK", "zh-hant-tw,zh-hans;q=0.9", "zh-tw;q=0.9,en;q=0.8"],
)
def test_a_browser_that_prefers_traditional_chinese_gets_it(site_store, asked):
    answer = Client().get("/", headers={"Accept-Language": asked})

    assert '<html lang="zh-Hant"' in answer.text
    assert answer["Content-Language"] == "zh-hant"
    assert "登入" in answer.text


@pytest.mark.parametrize("asked", ["", "en", "en-GB, zh;q=0.5", "fr", "*", "zzzzzzzzzz", "zh" * 500])
def test_other_browsers_get_english(site_store, asked):
    assert ENGLISH in Client().get("/", headers={"Accept-Language": asked}).text


def test_the_cookie_takes_precedence_over_the_browser(site_store):
    browser = Client()
    browser.cookies["language"] = "zh-hans"

    assert CHINESE in browser.get("/", headers={"Accept-Language": "en"}).text


def test_the_members_setting_takes_precedence_over_both(site_store, alice):
    browser = browser_of(prefer(alice, "zh-hans"))
    browser.cookies["language"] = "en"

    assert CHINESE in browser.get("/", headers={"Accept-Language": "en"}).text


def test_a_member_without_a_setting_is_served_like_a_reader(site_store, alice):
    browser = browser_of(alice)

    assert CHINESE in browser.get("/", headers={"Accept-Language": "zh"}).text
    assert ENGLISH in browser.get("/").text


def test_one_readers_language_does_not_leak_to_the_next(site_store, alice):
    browser_of(prefer(alice, "zh-hans")).get("/")

    assert ENGLISH in Client().get("/").text


def test_pages_vary_by_what_determines_the_language(site_store, article):
    for path in ("/", "/articles/1/", "/api/articles", "/nowhere/"):
        answer = Client().get(path)
        assert {"Accept-Language", "Cookie"} <= {name.strip() for name in answer["Vary"].split(",")}, path
        assert not answer.cookies


def test_a_member_costs_only_the_queries_of_the_page(site_store, article, alice, monkeypatch):
    browser = browser_of(prefer(alice, "zh-hans"))
    with CaptureQueriesContext(connection) as with_it:
        assert CHINESE in browser.get("/").text

    def pass_on(self: ReaderMiddleware, request):
        with override("en"):
            return self._get_response(request)

    monkeypatch.setattr(ReaderMiddleware, "__call__", pass_on)
    with CaptureQueriesContext(connection) as without:
        assert ENGLISH in browser.get("/").text

    assert len(with_it) == len(without) > 0


def test_pages_the_same_for_all_do_not_load_the_account(site_store, article, alice, django_assert_num_queries):
    browser = browser_of(prefer(alice, "zh-hans"))

    with django_assert_num_queries(1):
        browser.get("/metrics")  # it counts background tasks
    with django_assert_num_queries(0):
        for address in ("/healthz", "/robots.txt", "/sitemap.xml", "/feeds/front.atom"):
            browser.get(address)


def test_the_api_uses_the_clients_language_and_keeps_its_codes(site_store, article, alice):
    for browser, asked in ((Client(), "zh-CN"), (browser_of(prefer(alice, "zh-hans")), "en")):
        answer = browser.get("/api/articles/999", headers={"Accept-Language": asked})
        assert answer.json()["error"] == {"code": "article-not-found", "message": "没有这篇文章。"}


def test_a_mail_is_in_the_members_language_whatever_page_requested_it(site_store, alice):
    alice.email = "alice@example.org"
    alice.save()
    prefer(alice, "zh-hans")

    Client().post("/password/reset/", {"email": alice.email}, headers={"Accept-Language": "en"})
    wait_until_sent()

    assert mail.outbox[0].subject == "重设你在 Article Voting 的密码"
    assert "\nalice，你好：\n" in mail.outbox[0].body


def test_a_mail_to_a_member_without_a_setting_is_in_the_pages_language(site_store, alice):
    alice.email = "alice@example.org"
    alice.save()

    Client().post("/password/reset/", {"email": alice.email}, headers={"Accept-Language": "zh"})
    wait_until_sent()

    assert mail.outbox[0].subject.startswith("重设")


def test_every_response_varies_by_what_chooses_the_language(rf):
    answer = ReaderMiddleware(lambda _request: HttpResponse("x"))(rf.get("/feeds/"))

    assert answer["Vary"] == "Accept-Language, Cookie"


def test_without_the_database_the_page_is_in_the_browsers_language(site_store, rf, monkeypatch):
    def away(_request):
        raise OperationalError("away")

    monkeypatch.setattr(middleware, "member_of", away)
    request = rf.get("/")
    request.COOKIES["sessionid"] = "x"

    assert ReaderMiddleware(lambda _request: HttpResponse("x"))(request).status_code == 200
