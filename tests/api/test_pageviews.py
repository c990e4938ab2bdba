"""POST /api/views."""

import json
from typing import get_args

import pytest
from django.test import Client

from articles.api.readership import ViewCount
from articles.domain.lists import Order
from articles.domain.readership import REPEAT, Suspicion
from articles.web.readership import record
from tests.caller import Caller, error_of
from tests.cases import for_each
from tests.internals import views_per_article
from tests.store_state import count_keys, problems, set_salt

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


class Reader:
    """A browser at an address."""

    def __init__(self, address="203.0.113.7", agent=FIREFOX, client=None) -> None:
        self.caller = Caller(client or Client(enforce_csrf_checks=True), **{"user-agent": agent})
        self.address = address

    def sends(self, body, **options):
        return self.caller.post("views", body, REMOTE_ADDR=self.address, **options)

    def views(self, article, **body):
        answer = self.sends({"articleId": article, **body})
        assert answer.status_code == 200, answer.content
        return answer.json()


@pytest.fixture(autouse=True)
def known_digests(site_store, settings):
    """Fix the digests, because random ones give an inexact estimate of a few visitors once in hundreds of runs."""
    settings.SECRET_KEY = "known to the tests"
    record._salt.cache_clear()
    set_salt(site_store, int(site_store.store.now() // 86400), "known to the tests")


@pytest.fixture
def known(site_store, article):
    """The article after the day's first view, which creates the daily keys."""
    Reader("192.0.2.1").views(article)
    return article


def numbers(site_store, article):
    found = site_store.articles.get(article)
    return found.pv, found.uv


def test_a_view_returns_the_current_numbers(site_store, article):
    counted = Reader().views(article)

    assert counted == {"counted": True, "reason": None, "pv": 1, "uv": 1, "hotness": counted["hotness"]}
    assert counted["hotness"] == pytest.approx(2.2 / 2**1.5, rel=0.01)
    assert Reader().views(article) == counted | {"counted": False, "reason": "repeat"}


def test_a_visitor_of_the_page_and_the_api_counts_once(site_store, article):
    browser = Client(enforce_csrf_checks=True)
    browser.get(f"/articles/{article}/", REMOTE_ADDR="203.0.113.7", HTTP_USER_AGENT=FIREFOX)

    assert Reader(client=browser).views(article)["reason"] == "repeat"
    assert Reader().views(article)["reason"] == "repeat"
    assert numbers(site_store, article) == (1, 1)


def test_a_response_sets_no_cookie_and_is_not_cached(site_store, article):
    answer = Reader().sends({"articleId": article})

    assert answer.cookies == {}
    assert answer["Cache-Control"] == "no-store"


def test_a_member_needs_no_csrf_token_and_is_recognised_by_session_and_token(site_store, article, bob, as_bob):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(bob)

    assert Reader(client=browser).views(article)["counted"]
    answer = as_bob.post("views", {"articleId": article}, headers={"user-agent": FIREFOX})

    assert answer.json()["reason"] == "repeat"
    assert numbers(site_store, article) == (1, 1)


def test_a_visitor_id_distinguishes_readers_who_share_an_address(site_store, article):
    first, second = Reader(), Reader("198.51.100.1")

    assert [first.views(article, visitorId=name)["counted"] for name in ("a", "b", "a")] == [True, True, False]
    assert first.views(article)["counted"]
    assert second.views(article, visitorId="a")["counted"]
    assert numbers(site_store, article) == (4, 4)


@for_each("visitor_id", ["x" * 201, "x" * 100_000, 1, 1.5, True, ["a"], {"a": 1}, "\ud800"])
def test_any_other_visitor_id_is_refused(site_store, known, visitor_id):
    keys = count_keys(site_store)

    answer = Reader().sends({"articleId": known, "visitorId": visitor_id})

    assert error_of(answer) == (400, "invalid")
    assert "“visitorId”" in answer.json()["error"]["message"]
    assert numbers(site_store, known) == (1, 1)
    assert count_keys(site_store) == keys


def test_a_removed_article_takes_no_views_and_creates_no_key(site_store, known, removed):
    keys = count_keys(site_store)

    assert error_of(Reader().sends({"articleId": removed})) == (404, "article-removed")
    assert count_keys(site_store) == keys


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"{}", "invalid"), (b"[]", "invalid"), (b"1", "invalid"), (b"", "invalid"),
        (b"{", "invalid-json"), (b'{"article_id": 1}', "invalid"),
    ],
)  # fmt: skip
def test_a_malformed_view_is_refused(site_store, known, raw, code):
    assert error_of(Reader().sends(raw)) == (400, code)


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded"])
def test_a_content_type_that_another_site_can_send_is_refused(site_store, known, content_type):
    answer = Reader().sends(json.dumps({"articleId": known}).encode(), content_type=content_type)

    assert error_of(answer) == (415, "unsupported-media-type")


@pytest.mark.parametrize(
    ("agent", "headers", "reason"),
    [("curl/8.5.0", {}, "bot"), ("", {}, "bot"), (FIREFOX, {"sec-purpose": "prefetch"}, "prefetch")],
)
def test_suspect_views_give_a_reason_and_do_not_affect_ranking(site_store, article, agent, headers, reason):
    answer = Reader(agent=agent).sends({"articleId": article}, headers=headers).json()

    assert (answer["counted"], answer["reason"], answer["pv"], answer["uv"]) == (False, reason, 0, 0)
    assert site_store.pageviews.get_suspects(article) == {reason: 1}
    assert site_store.lists.get_page(Order.HOT).total == 0


def test_every_reason_is_documented():
    reasons, _none = get_args(ViewCount.model_fields["reason"].annotation)

    assert set(get_args(reasons)) == {REPEAT, *Suspicion}


def test_forged_browsers_and_visitor_ids_are_capped_and_counted_separately(site_store, article):
    most, sent = views_per_article(site_store.rules), 200
    reader = Reader()
    for number in range(sent // 2):
        reader.caller.headers["user-agent"] = f"{FIREFOX} {number}"
        reader.views(article)
        reader.views(article, visitorId=f"{number:0200}")

    assert numbers(site_store, article) == (most, most)
    assert site_store.pageviews.get_suspects(article) == {"burst": sent - most}
    assert count_keys(site_store) < most + 60
    assert problems(site_store) == []


def test_views_of_many_unknown_articles_create_no_key(site_store, known):
    keys = count_keys(site_store)
    reader = Reader()

    answers = [reader.sends({"articleId": known + number}) for number in range(1, 201)]

    assert {answer.status_code for answer in answers} == {404}
    assert count_keys(site_store) == keys
