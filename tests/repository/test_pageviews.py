"""Views: which of them count, which are counted separately, and that no others are counted."""

from collections import Counter
from datetime import UTC, datetime

import pytest

from articles.domain.comments import CommentOrder
from articles.domain.errors import ArticleNotFound, ArticleRemoved, StoreUnfit
from articles.domain.lists import Order
from articles.domain.readership import REPEAT, DayViews, Suspicion
from articles.repository.readership.pageviews import DAYS_KEPT, views_per_article
from articles.repository.store.keys import Keys
from tests.cast import ALICE, MODERATOR
from tests.clock import DAY
from tests.every_server import delete
from tests.factories import discuss, post, view, visit
from tests.repository.racing import race
from tests.repository.usage import warm
from tests.rules import connect, default_rules
from tests.store_state import contents, problems


def record(repository, article_id, *args, member=None, **kwargs):
    return repository.pageviews.record(article_id, visit(*args, **kwargs), member)


# What counts


def test_a_view_is_recorded_with_the_exchange_that_reads_the_article(repository, article, clock, wire):
    alone = record(repository, article, 1, member=ALICE)
    clock.advance(DAY)

    with (
        wire.counted(),
        repository.inbox.counting(ALICE, 0) as unread,
        repository.pageviews.recording(article, visit(2), ALICE) as riding,
    ):
        found, *_ = repository.comments.get_article(article, CommentOrder.BEST, reader=ALICE)

    assert wire.trips == 1
    assert (found.pv, riding.count.pv, riding.count.uv, riding.count.reason) == (alone.pv, 2, 2, None)
    assert riding.count.visited_at is not None
    assert unread.count == (None if repository.store.is_cluster else 0)
    assert repository.articles.get(article).pv == 2


def test_a_view_that_no_exchange_takes_along_is_not_recorded(repository, article):
    with repository.pageviews.recording(article, visit(1)) as riding:
        pass

    assert riding.count is None
    assert repository.articles.get(article).pv == 0


def test_the_stored_time_decides_and_not_the_expiry_of_a_key(repository, article, clock):
    record(repository, article, 1)
    names = repository.store.shards.of(article)
    seen = names.prefix + Keys.seen.of(article, visit(1).visitor)
    assert 595 <= repository.store.client.ttl(seen) <= 600
    repository.store.client.persist(seen)
    clock.advance(600)

    assert record(repository, article, 1).counted
    assert 595 <= repository.store.client.ttl(seen) <= 600


def test_a_clock_set_back_counts_no_visitor_twice(repository, article, clock):
    record(repository, article, 1)
    for jump in (-3600, -DAY):
        clock.advance(jump)
        assert record(repository, article, 1).reason == REPEAT
        assert record(repository, article, int(2 - jump)).counted
    clock.advance(3600 + DAY + 600)

    assert record(repository, article, 1).counted
    assert problems(repository) == []


@pytest.mark.parametrize("seconds", [1, 60, 86400])
def test_the_interval_before_a_view_counts_again_is_configurable(server_url, clock, seconds):
    repository = connect(server_url, clock=clock, rules=default_rules(view_repeat=seconds))
    repository.prepare()
    article_id = post(repository, 1)
    record(repository, article_id, 1)

    clock.advance(seconds - 0.001)
    assert record(repository, article_id, 1).reason == REPEAT
    clock.advance(0.001)
    assert record(repository, article_id, 1).counted


# What creates no key


@pytest.mark.parametrize("suspicion", [None, *Suspicion])
def test_a_view_of_an_unknown_article_is_reported_and_creates_no_key(repository, article, suspicion):
    before = contents(repository)

    with pytest.raises(ArticleNotFound):
        record(repository, 999, 1, network=1, suspicion=suspicion)

    assert contents(repository) == before


@pytest.mark.parametrize("suspicion", [None, *Suspicion])
def test_a_view_of_a_removed_article_is_reported_and_changes_nothing(repository, article, suspicion):
    record(repository, article, 1)
    repository.articles.remove(article, MODERATOR, "Spam")
    before = contents(repository)

    with pytest.raises(ArticleRemoved):
        record(repository, article, 2, network=1, suspicion=suspicion)

    assert contents(repository) == before


def test_a_store_without_ranking_parameters_refuses_a_view_rather_than_half_counting_it(repository, article):
    for keys in repository.store.shards.all:
        repository.store.client.delete(keys.ranking)
    before = contents(repository)

    with pytest.raises(StoreUnfit):
        record(repository, article, 1, network=1)

    assert contents(repository) == before


# Suspect views


@pytest.mark.parametrize("suspicion", [Suspicion.BOT, Suspicion.PREFETCH])
def test_suspect_views_are_counted_by_reason_and_do_not_affect_ranking(repository, article, suspicion):
    record(repository, article, 1)
    client, shards = repository.store.client, repository.store.shards
    touched = ("counter:suspect:", "days:")

    def rest():
        return {name: value for name, value in contents(repository).items() if not any(t in name for t in touched)}

    before = rest()

    counts = [record(repository, article, visitor, network=1, suspicion=suspicion) for visitor in (1, 2, 2)]

    assert {(count.reason, count.counted, count.pv, count.uv) for count in counts} == {(suspicion, False, 1, 1)}
    assert repository.pageviews.get_suspects(article) == {suspicion: 3}
    assert rest() == before
    assert not client.exists(shards.of(article).prefix + Keys.seen.of(article, visit(2).visitor))
    assert record(repository, article, 2).counted
    assert problems(repository) == []


def test_views_from_one_network_are_limited_for_each_article(repository, article):
    most = views_per_article(repository.rules)

    reasons = [record(repository, article, visitor, network=7).reason for visitor in range(most + 5)]

    assert reasons == [None] * most + [Suspicion.BURST] * 5
    found = repository.articles.get(article)
    assert (found.pv, repository.pageviews.get_suspects(article)) == (most, {Suspicion.BURST: 5})
    assert record(repository, article, 1000, network=8).counted
    assert record(repository, article, 1001).counted  # no network, no limit
    assert problems(repository) == []


@pytest.mark.needs("few shards")
def test_views_from_one_network_are_limited_over_all_articles(server_url, clock):
    for shards in (1, 4):
        rules = default_rules(views_per_network=20)
        repository = connect(server_url, shards=shards, rules=rules, clock=clock)
        repository.store.client.flushdb()
        repository.prepare()
        ids = [post(repository, number) for number in range(12)]

        reasons = Counter(record(repository, ids[n % 12], n, network=7).reason for n in range(40))

        assert reasons == {None: 20, Suspicion.BURST: 20}, shards
        assert record(repository, ids[0], 1000, network=8).counted


def test_suspect_views_do_not_use_up_a_networks_limit(repository, article):
    most = views_per_article(repository.rules)
    for visitor in range(most + 5):
        record(repository, article, visitor, network=7, suspicion=Suspicion.BOT)
    record(repository, article, 1, network=7)
    for _ in range(most):
        assert record(repository, article, 1, network=7).reason == REPEAT

    reasons = [record(repository, article, visitor, network=7).reason for visitor in range(2, most + 2)]

    assert reasons == [None] * (most - 1) + [Suspicion.BURST]


def test_a_networks_limit_ends_with_its_window(repository, article):
    names, client = repository.store.shards.of(article), repository.store.client
    for visitor in range(40):
        record(repository, article, visitor, network=7)
    network = visit(0, 7).network
    burst = [names.prefix + Keys.burst_on_article.of(article, network), names.burst(network)]
    assert all(595 <= client.ttl(name) <= 600 for name in burst)

    delete(client, *burst)  # as their expiry does

    assert record(repository, article, 99, network=7).counted


# Access to the store


def test_a_view_recorded_with_its_time_equals_one_made_at_that_time(repository, article, clock):
    began = clock()
    views = [(article, visit(n % 3), began + 100 * n) for n in range(20)] + [(999, visit(1), began)]

    counts = repository.pageviews.record_many(views)

    expected, last = [], {}
    for _, seen, at in views[:-1]:
        counted = at - last.get(seen.visitor, -1e9) >= 600
        last[seen.visitor] = at if counted else last[seen.visitor]
        expected.append(counted)
    assert [count.counted for count in counts[:-1]] == expected
    assert counts[-1] is None
    assert repository.articles.get(article).pv == sum(expected)
    assert problems(repository) == []


# Days


def day_of(clock):
    return datetime.fromtimestamp(clock(), UTC).date()


def test_days_hold_views_new_visitors_and_suspects_of_an_article_and_the_site(repository, article, clock):
    other = post(repository, 2)
    for article_id, visitors in ((article, (1, 2)), (other, (2, 3))):
        view(repository, article_id, *visitors)
    record(repository, article, 9, suspicion=Suspicion.BOT)
    today = day_of(clock)
    clock.advance(DAY)
    view(repository, article, 1, 4)

    found = repository.pageviews.list_days(article)[-2:]
    assert found == [DayViews(today, 2, 2, {"bot": 1}), DayViews(day_of(clock), 2, 1, {})]
    # 2 read both: one visitor of the site; 1 came again: a visitor of that day
    told = repository.pageviews.list_days()[-2:]
    assert told == [DayViews(today, 4, 3, {"bot": 1}), DayViews(day_of(clock), 2, 2, {})]


def test_only_fourteen_days_are_kept(repository, article, clock):
    for day in range(40):
        view(repository, article, day)
        record(repository, article, 1, suspicion=Suspicion.BOT)
        clock.advance(DAY)
    clock.advance(-DAY)
    names, client = repository.store.shards.of(article), repository.store.client

    for key in (names.days(article), names.days()):
        assert client.hlen(key) <= 3 * DAYS_KEPT
        assert 14 * DAY < client.ttl(key) <= 15 * DAY
    assert [day.counted for day in repository.pageviews.list_days(article)] == [1] * 14
    assert [day.visitors for day in repository.pageviews.list_days()] == [1] * 14
    assert 14 * DAY < client.ttl(names.visitors_of_day(int(clock() // DAY))) <= 15 * DAY


def test_a_day_ends_at_midnight_utc(repository, article, clock):
    clock.now = 1_700_006_400 - 0.001  # 2023-11-15T00:00:00Z
    record(repository, article, 1)
    clock.advance(0.001)
    record(repository, article, 2)

    assert [day.counted for day in repository.pageviews.list_days(article)[-2:]] == [1, 1]


# Salt


def test_the_salt_of_a_day_is_random_shared_and_dropped_after_two_days(repository):
    other = connect(repository.store.client, shards=repository.store.shards.count)

    salts = [one.pageviews.get_salt(day) for day in (1, 2) for one in (repository, other)]

    assert salts[0] == salts[1] != salts[2] == salts[3]
    assert all(len(salt) == 32 for salt in salts)
    assert 2 * DAY - 5 <= repository.store.client.ttl("salt:1") <= 2 * DAY
    repository.store.client.delete("salt:1")  # as its expiry does
    assert repository.pageviews.get_salt(1) not in salts


def test_concurrent_processes_get_the_same_salt(repository):
    assert len(set(race(repository, [lambda: repository.pageviews.get_salt(5)] * 20))) == 1


# Removal


def test_every_list_shows_the_views_of_its_articles(repository, article):
    view(repository, article, 1, 2)
    discuss(repository, [article])

    for order in Order:
        (found,) = repository.lists.get_page(order).articles
        assert (found.pv, found.uv) == (2, 2)
        assert (found.hotness is None) == (order is not Order.HOT)


# Races


def test_fifty_concurrent_views_of_one_visitor_count_once(repository):
    article_id = post(repository, 1, ("python",))
    warm(repository, "python")

    counts = race(repository, [lambda: record(repository, article_id, 1, network=1)] * 50)

    assert Counter(count.reason for count in counts) == {None: 1, REPEAT: 49}
    found = repository.articles.get(article_id)
    assert (found.pv, found.uv) == (1, 1)
    assert [day.counted for day in repository.pageviews.list_days(article_id)][-1] == 1
    assert problems(repository) == []


def test_a_limit_holds_for_concurrent_views(repository):
    most = views_per_article(repository.rules)
    article_id = post(repository, 1)

    counts = race(repository, [lambda n=n: record(repository, article_id, n, network=1) for n in range(most + 20)])

    assert Counter(count.reason for count in counts) == {None: most, Suspicion.BURST: 20}


@pytest.mark.deep
@pytest.mark.parametrize("shards", [1, 4, 16, 1024])
def test_a_networks_limit_for_an_article_does_not_depend_on_the_shards(server_url, clock, shards):
    repository = connect(server_url, shards=shards, clock=clock)
    repository.prepare()
    article, most = post(repository, 1), views_per_article(repository.rules)

    counted = [record(repository, article, visitor, network=7).counted for visitor in range(most + 5)]

    assert sum(counted) == most
