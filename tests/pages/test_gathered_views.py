"""Views that are gathered, and counted together."""

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from articles.domain.errors import StoreUnavailable
from articles.domain.readership import ViewCount, Visit
from articles.readership import record
from articles.readership.archive import put_away
from articles.readership.record import GatheredViews, count_apart, request_from
from articles.readership.visitors import COOKIE, remember
from tests.clock import DAY
from tests.factories import actor, post_as
from tests.internals import Pageviews, failing
from tests.store_state import set_clock

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"


def variables_of(visitor):
    """Return the variables of a request by a reader with the cookie of this visitor."""
    variables, response = RequestFactory().get("/", headers={"user-agent": FIREFOX}).environ, HttpResponse()
    remember(request_from(dict(variables)), response, Visit(f"{visitor:016x}"), ViewCount(None, 1, 1, 0.0))
    return variables | {"HTTP_COOKIE": f"{COOKIE}={response.cookies[COOKIE].value}"}


def test_views_are_counted_at_the_latest_on_closing(site_store, article, bob):
    other = post_as(site_store, bob, "Another", "https://example.org/b").id
    views = GatheredViews()

    assert all(views.add(variables_of(visitor), number) for visitor in (1, 2, 2) for number in (article, other))
    views.close()

    assert [(site_store.articles.get(n).pv, site_store.articles.get(n).uv) for n in (article, other)] == [
        (2, 2)
    ] * 2
    assert not views.add(variables_of(3), article)


def test_those_that_arrive_while_others_are_counted_count_before_the_end(monkeypatch):
    views, counted = GatheredViews(), []

    def count(batch):
        counted.extend(view.article_id for view in batch)
        if counted == [1]:
            views.add({}, 2)
            views._closing.set()

    monkeypatch.setattr(record, "count", count)
    views.add({}, 1)
    views._thread.join(60)

    assert counted == [1, 2]


def test_the_page_of_a_removed_article_counts_nothing_and_is_no_failure(site_store, article, carol, caplog):
    site_store.articles.remove(article, actor(carol), "Spam")
    views = GatheredViews()
    views.add(variables_of(1), article)
    views.close()

    assert count_apart(variables_of(2), article) == []
    assert site_store.articles.get(article).pv == 0
    assert "not counted" not in caplog.text


def test_one_that_has_gone_does_not_keep_others_from_counting(site_store, article, bob, carol):
    other = post_as(site_store, bob, "Another", "https://example.org/b").id
    site_store.articles.remove(other, actor(carol), "Spam")
    views = GatheredViews()
    for number in (other, 999, article):
        views.add(variables_of(1), number)
    views.close()

    assert site_store.articles.get(article).pv == 1


@pytest.mark.django_db(transaction=True)
def test_archived_counters_are_restored(site_store, article):
    site_store.pageviews.record(article, Visit("0" * 16))
    set_clock(site_store, site_store.store.now() + 400 * DAY)
    assert put_away(site_store, at_most=10, budget=60) == 1
    views = GatheredViews()
    views.add(variables_of(1), article)
    views.close()

    assert (site_store.articles.get(article).pv, site_store.articles.get(article).uv) == (2, 2)


def test_while_the_store_is_away_views_are_lost_with_a_warning(site_store, article, caplog):
    views = GatheredViews()
    with failing(Pageviews, "record_many", StoreUnavailable("away")):
        views.add(variables_of(1), article)
        views.close()

    assert "1 views not counted: StoreUnavailable: away" in caplog.text


def test_too_many_are_refused(site_store, article, monkeypatch):
    monkeypatch.setattr(record, "MOST_WAITING", 0)

    assert not GatheredViews().add(variables_of(1), article)


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(record, "INTERVAL", 0.01)
