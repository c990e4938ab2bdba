"""An article page counts its readers."""

import re
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core import signing
from django.test import Client

from articles.web.readership import record as identity
from tests.factories import browser_of
from tests.store_state import get_salt, lose_salt, refusing_writes, set_salt, traces_of_visitors

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.5 Safari/605.1.15"
NOON = datetime(2030, 3, 1, 12, tzinfo=UTC)
TODAY = int(NOON.timestamp() // 86400)


class Reader:
    """A browser at an address. `forgetful` discards its cookies."""

    def __init__(self, address="203.0.113.7", agent=FIREFOX, *, browser=None, forgetful=False) -> None:
        self.browser = browser or Client()
        self.meta = {"REMOTE_ADDR": address, "HTTP_USER_AGENT": agent}
        self.forgetful = forgetful

    def reads(self, article, method="get", **meta):
        if self.forgetful:
            self.browser.cookies.clear()
        answer = getattr(self.browser, method)(f"/articles/{article}/", **(self.meta | meta))
        assert answer.status_code == 200
        return answer


@pytest.fixture
def clock():
    """A clock set to noon; ages on pages follow it too."""
    with time_machine.travel(NOON, tick=False) as found:
        yield found


@pytest.fixture(autouse=True)
def known_digests(site_store, settings):
    """Make digests the same in every run: the estimate of a few visitors is off in one random run of hundreds."""
    settings.SECRET_KEY = "known to the tests"
    identity._salt.cache_clear()
    for day in range(TODAY, TODAY + 3):
        set_salt(site_store, day, f"known on {day}")


@pytest.fixture
def counts(site_store, article):
    """Return the page views and visitors of the article."""

    def read():
        found = site_store.articles.get(article)
        return found.pv, found.uv

    return read


def test_a_view_is_counted_and_shown_on_the_same_page(clock, site_store, article, counts):
    shown = [numbers_on(reader.reads(article)) for reader in (Reader(), Reader("198.51.100.1"))]

    assert counts() == (2, 2)
    assert shown == [(1, 1), (2, 2)]


def numbers_on(page):
    """Return the views and visitors that the page of an article shows."""
    return tuple(int(re.search(rf"<dt>{name}</dt><dd>(\d+)</dd>", page.text)[1]) for name in ("Views", "Visitors"))


@pytest.mark.parametrize("forgetful", [False, True])
def test_rereading_counts_after_ten_minutes_as_the_same_visitor(clock, article, counts, site_store, forgetful):
    reader = Reader(forgetful=forgetful)
    reader.reads(article)
    clock.shift(timedelta(minutes=9, seconds=59))
    reader.reads(article)
    assert counts() == (1, 1)

    clock.shift(timedelta(seconds=1))
    reader.reads(article)

    assert counts() == (2, 1)
    assert site_store.pageviews.get_suspects(article) == {}


def test_the_cookie_identifies_a_visitor_across_days_addresses_and_browsers(clock, article, counts):
    reader = Reader()
    reader.reads(article)
    clock.shift(timedelta(days=2))
    reader.meta = {"REMOTE_ADDR": "198.51.100.1", "HTTP_USER_AGENT": SAFARI}

    reader.reads(article)

    assert counts() == (2, 1)


def test_addresses_and_browsers_distinguish_visitors_and_ipv6_counts_by_network(clock, article, counts):
    for address, agent in [
        ("203.0.113.7", FIREFOX), ("203.0.113.8", FIREFOX), ("203.0.113.7", SAFARI),
        ("2001:db8:1:1::1", FIREFOX), ("2001:db8:1:1:ffff::2", FIREFOX), ("2001:db8:1:2::1", FIREFOX),
    ]:  # fmt: skip
        Reader(address, agent).reads(article)

    assert counts() == (5, 5)


def test_every_day_has_a_salt_that_expires_soon(clock, article, site_store):
    lose_salt(site_store, TODAY)

    Reader().reads(article)
    salt, seconds = get_salt(site_store, TODAY)
    identity._salt.cache_clear()
    Reader("198.51.100.1").reads(article)

    assert len(salt) >= 32
    assert get_salt(site_store, TODAY)[0] == salt
    assert 0 < seconds <= 2 * 86400
    assert identity._salt.cache_info().maxsize == 1


def test_a_member_is_one_visitor_in_every_browser(clock, article, counts, bob):
    Reader(browser=browser_of(bob)).reads(article)
    answer = Reader("198.51.100.1", SAFARI, browser=browser_of(bob)).reads(article)

    assert counts() == (1, 1)
    assert identity.COOKIE not in answer.cookies


def test_the_cookie_is_signed_and_hidden_from_scripts_and_other_sites(clock, article):
    cookie = Reader().reads(article).cookies[identity.COOKIE]

    assert (cookie["httponly"], cookie["samesite"], cookie["secure"]) == (True, "Lax", "")
    assert cookie["max-age"] == 30 * 86400
    assert cookie["path"] == "/"
    assert "203.0.113.7" not in cookie.value


def test_over_https_the_cookie_is_secure(clock, article):
    answer = Client().get(f"/articles/{article}/", secure=True, **Reader().meta)

    assert answer.cookies[identity.COOKIE]["secure"] is True


def test_the_cookie_is_set_once(clock, article):
    reader = Reader()
    reader.reads(article)

    assert identity.COOKIE not in reader.reads(article).cookies


@pytest.mark.parametrize(
    "value", ["", "0" * 16, f"{'0' * 16}:1tXyZa:forged", "\x00", "a" * 3000, "signed for another purpose"]
)
def test_a_forged_cookie_is_ignored_and_replaced(clock, article, counts, value):
    Reader().reads(article)
    forger = Reader()
    if value.startswith("signed"):
        value = signing.get_cookie_signer(salt="visitor").sign("0" * 16)
    forger.browser.cookies[identity.COOKIE] = value

    answer = forger.reads(article)

    assert counts() == (1, 1)
    assert identity.COOKIE in answer.cookies


def test_bots_and_prefetches_are_counted_separately_and_get_no_cookie(clock, article, counts, site_store):
    answers = [
        Reader(agent="Googlebot/2.1 (+http://www.google.com/bot.html)").reads(article),
        Reader(agent="").reads(article),
        Reader().reads(article, HTTP_SEC_PURPOSE="prefetch;prerender"),
    ]

    assert counts() == (0, 0)
    assert site_store.pageviews.get_suspects(article) == {"bot": 2, "prefetch": 1}
    assert not any(identity.COOKIE in answer.cookies for answer in answers)


def test_a_burst_from_one_network_is_counted_separately_and_gets_no_cookie(clock, article, counts, site_store):
    answers = [Reader(f"203.0.113.{host}").reads(article) for host in range(1, 36)]

    assert counts() == (30, 30)
    assert site_store.pageviews.get_suspects(article) == {"burst": 5}
    assert [identity.COOKIE in answer.cookies for answer in answers] == [True] * 30 + [False] * 5


def test_a_head_request_is_not_a_view(clock, article, counts, site_store):
    answer = Reader().reads(article, "head")

    assert counts() == (0, 0)
    assert site_store.pageviews.get_suspects(article) == {}
    assert identity.COOKIE not in answer.cookies


@pytest.mark.parametrize("salted", [True, False])
def test_a_read_only_store_shows_the_page_without_counting(clock, article, counts, site_store, caplog, salted):
    if salted:
        Reader("198.51.100.1").reads(article)
    else:
        lose_salt(site_store, TODAY)
    before = counts()
    with refusing_writes(site_store):
        answer = Reader().reads(article)

    assert "A title" in answer.content.decode()
    assert identity.COOKIE not in answer.cookies
    assert "not counted" in caplog.text
    assert counts() == before
    Reader().reads(article)
    assert counts() == (before[0] + 1, before[1] + 1)


def test_only_a_trusted_proxy_may_state_the_readers_address(clock, article, counts, settings):
    for last in range(3):
        Reader("127.0.0.1", forgetful=True).reads(article, HTTP_X_FORWARDED_FOR=f"203.0.113.{last}")
    assert counts() == (1, 1)

    settings.TRUSTED_PROXIES = ["127.0.0.0/8"]
    for last in range(3):
        Reader("127.0.0.1", forgetful=True).reads(article, HTTP_X_FORWARDED_FOR=f"1.1.1.1, 203.0.113.{last}")

    assert counts() == (4, 4)


def test_nothing_in_the_store_identifies_a_visitor(clock, article, site_store, bob):
    Reader().reads(article)
    Reader("2001:db8:1:1::1").reads(article)
    Reader(browser=browser_of(bob)).reads(article)

    visitors, networks = traces_of_visitors(site_store)

    assert len(visitors) == 3
    for owner, seconds in visitors + networks:
        assert len(owner) == 16
        assert set(owner) <= set("0123456789abcdef")
        assert seconds > 0
