"""Views that are gathered, and counted together."""

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from articles.domain.readership import Visit
from articles.web.readership import record
from articles.web.readership.archive import put_away
from articles.web.readership.record import COOKIE, GatheredViews, RequestOfReader, count_apart, remember
from tests.clock import DAY
from tests.factories import post_as
from tests.store_state import set_clock

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def variables_of(visitor):
    """Return the variables of a request by a reader with the cookie of this visitor."""
    variables, response = RequestFactory().get("/", headers={"user-agent": FIREFOX}).environ, HttpResponse()
    remember(RequestOfReader(dict(variables)), response, Visit(f"{visitor:016x}"), None)
    return variables | {"HTTP_COOKIE": f"{COOKIE}={response.cookies[COOKIE].value}"}


def test_views_are_counted_at_the_latest_on_closing(site_store, article, bob):
    other = post_as(site_store, bob, "Another", "https://example.org/b").id
    views = GatheredViews()

    taken = [
        views.add(variables_of(visitor), number, is_new=False)
        for visitor in (1, 2, 2)
        for number in (article, other)
    ]
    assert taken == [[]] * 6
    views.close()

    assert [(site_store.articles.get(n).pv, site_store.articles.get(n).uv) for n in (article, other)] == [
        (2, 2)
    ] * 2
    assert views.add(variables_of(3), article, is_new=False) is None


def test_new_readers_get_the_cookie_of_the_visitor_as_whom_they_count(site_store, article):
    first, again, bot = (
        RequestFactory().get("/", headers={"user-agent": agent}).environ for agent in (FIREFOX, FIREFOX, "curl/8")
    )
    views = GatheredViews()
    set_clock(site_store, site_store.store.now() + DAY)
    assert views.add(first, article, is_new=True) is None, "the salt of the day is not known yet"
    count_apart(first, article)

    ((name, cookie),) = views.add(again, article, is_new=True)
    assert views.add(bot, article, is_new=True) == []
    assert views.add(again | {"HTTP_COOKIE": cookie.partition(";")[0]}, article, is_new=False) == []
    views.close()

    assert (name, cookie.partition("=")[0]) == ("Set-Cookie", COOKIE)
    shown = site_store.articles.get(article)
    assert (shown.pv, shown.uv) == (1, 1), "the others repeat it, or are a bot's"


def test_those_that_arrive_while_others_are_counted_count_before_the_end(monkeypatch):
    views, counted = GatheredViews(), []

    def count(batch):
        counted.extend(view.article_id for view in batch)
        if counted == [1]:
            views.add({}, 2, is_new=False)
            views._closing.set()

    monkeypatch.setattr(record, "count", count)
    views.add({}, 1, is_new=False)
    views._thread.join(60)

    assert counted == [1, 2]


@pytest.mark.django_db(transaction=True)
def test_archived_counters_are_restored(site_store, article):
    site_store.pageviews.record(article, Visit("0" * 16))
    set_clock(site_store, site_store.store.now() + 400 * DAY)
    assert put_away(site_store, at_most=10, budget=60) == 1
    views = GatheredViews()
    views.add(variables_of(1), article, is_new=False)
    views.close()

    assert (site_store.articles.get(article).pv, site_store.articles.get(article).uv) == (2, 2)


def test_too_many_are_refused(site_store, article, monkeypatch):
    monkeypatch.setattr(record, "MOST_WAITING", 0)

    assert GatheredViews().add(variables_of(1), article, is_new=False) is None


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(record, "INTERVAL", 0.01)
