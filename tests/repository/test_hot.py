"""The hot list: one formula, one moment for every entry, and no trimming before scoring."""

import random
from threading import Event, Semaphore, Thread

import pytest
from hypothesis import given, settings, strategies as st

from articles import housekeeping
from articles.domain import ranking
from articles.domain.errors import PageNotFound, StoreDamaged
from articles.domain.lists import Order
from articles.domain.ranking import Parameters
from articles.repository import Repository
from articles.repository.lists.gathering import gather_page, site_rankings
from articles.repository.lists.hot import _LOCK_LIFE, Hot
from articles.repository.store import keys
from tests.cast import MODERATOR
from tests.clock import DAY, Clock
from tests.factories import discuss, imported, post, view, visit
from tests.repository.racing import during, interleaved, race, several
from tests.repository.snapshots import filled_once
from tests.repository.usage import hot_values, listed, tune, warm
from tests.rules import connect, default_rules
from tests.store_state import contents, problems

HOUR = 3600.0


def formula(repository: Repository, at: float | None = None) -> dict[int, float]:
    """Return the hotness of every listed, viewed article at the moment the list is scored for."""
    at = repository.hot.get_refreshed_at() if at is None else at
    parameters = repository.parameters.get_current()
    return {
        article.id: ranking.hotness(
            article.pv, article.uv, ranking.hours_between(article.posted_at, at), parameters
        )
        for article in repository.imports.iterate()
        if article.removed is None and article.pv
    }


def ordered(values: dict[int, float]) -> list[int]:
    return sorted(values, key=lambda i: (values[i], str(i).encode()), reverse=True)


@filled_once
def fill(repository: Repository, clock: Clock, count: int, *, views: int = 6, groups=(), seed=1) -> list[int]:
    """Post articles of the last few days, each with some views at one moment."""
    chance = random.Random(seed)
    ids = []
    for at in range(0, count, 500):
        rows = [
            imported(n, round(clock() - chance.uniform(0, 5 * DAY), 3), groups=groups)
            for n in range(at, min(at + 500, count))
        ]
        ids += repository.imports.add(rows)
    repository.pageviews.record_many(
        [(i, visit(10**9 + 100 * i + n), clock()) for i in ids for n in range(chance.randint(1, views))]
    )
    return ids


def put_counters(repository: Repository, numbers: dict[int, int]) -> None:
    """Write page view counters directly, where recording views would take too long: PV is the number, UV one."""
    with repository.store.pipeline() as pipe:
        for article_id, pv in numbers.items():
            pipe.set(repository.store.shards.of(article_id).views(article_id), pv)
        pipe.execute()


# The formula


@settings(max_examples=15)
@given(
    st.builds(
        Parameters,
        votes_per_day=st.just(200),
        alpha=st.floats(0, 100),
        beta=st.floats(0.001, 100),
        base=st.floats(0.1, 48),
        gamma=st.floats(1, 2.5),
    ),
    st.integers(1, 10**7),
    st.floats(-100, 2000),
)
def test_hotness_in_the_store_equals_the_pure_function(merged_store, parameters, pv, hours):
    repository, clock = merged_store, merged_store.store._clock
    repository.store.client.flushdb()
    repository.prepare()
    tune(repository, parameters)
    (article_id,) = repository.imports.add([imported(1, round(clock() - hours * HOUR, 3))])
    view(repository, article_id, 1)
    put_counters(repository, {article_id: pv})

    repository.hot.rescore()

    exact = formula(repository)[article_id]
    assert hot_values(repository)[article_id] == pytest.approx(exact, rel=1e-9)
    assert repository.lists.get_page(Order.HOT).articles[0].hotness == hot_values(repository)[article_id]
    assert problems(repository) == []


# One moment


def test_the_first_reader_of_a_stale_list_rescores_it(repository, clock):
    fill(repository, clock, 30)
    repository.hot.rescore()
    moment = clock()
    clock.advance(59.999)
    assert repository.lists.get_page(Order.HOT).refreshed_at == moment
    clock.advance(0.001)

    page = repository.lists.get_page(Order.HOT)

    assert page.refreshed_at == repository.hot.get_refreshed_at() == clock()
    assert {article.id: article.hotness for article in page.articles}.items() <= hot_values(repository).items()
    assert hot_values(repository) == pytest.approx(formula(repository, clock()), rel=1e-9)
    assert repository.store.client.exists(keys.HOT_LOCK) == 0


def test_readers_do_not_wait_while_another_reader_rescores_the_list(repository, clock):
    fill(repository, clock, 30)
    repository.hot.rescore()
    moment = clock()
    clock.advance(300)
    repository.store.client.set(keys.HOT_LOCK, "somebody", ex=_LOCK_LIFE)

    page = repository.lists.get_page(Order.HOT)

    assert page.refreshed_at == moment
    assert len(page.articles) == 25
    assert not repository.hot.refresh()
    assert repository.store.client.get(keys.HOT_LOCK) == "somebody", "it would be gone if one had waited for it"


def test_a_lock_left_by_a_crash_expires(repository, clock):
    fill(repository, clock, 5)
    client = repository.store.client
    held = []
    repository.hot.rescore = lambda: held.append(client.ttl(keys.HOT_LOCK))
    clock.advance(100)

    assert repository.hot.refresh()

    assert 0 < held[0] <= _LOCK_LIFE
    assert not client.exists(keys.HOT_LOCK)


def test_a_holder_whose_lock_expired_does_not_release_the_next_holders_lock(repository, clock):
    client = repository.store.client
    repository.hot.rescore = lambda: client.set(keys.HOT_LOCK, "the next")
    clock.advance(100)

    repository.hot.refresh()

    assert client.get(keys.HOT_LOCK) == "the next"


def test_many_readers_of_a_stale_list_rescore_it_once(repository, clock, monkeypatch):
    fill(repository, clock, 50)
    clock.advance(61)
    done, rescore = [], Hot.rescore
    monkeypatch.setattr(Hot, "rescore", lambda hot: done.append(1) or rescore(hot))

    pages = race(repository, [lambda: repository.lists.get_page(Order.HOT)] * 20)

    assert len(done) == 1
    assert all(len(page.articles) == 25 for page in pages)
    assert problems(repository) == []


@pytest.mark.parametrize("jump", [DAY, -DAY, -HOUR])
def test_a_clock_jump_causes_no_negative_age_and_keeps_the_order_of_the_formula(repository, clock, jump):
    ids = fill(repository, clock, 40)
    new = post(repository, 1000)
    view(repository, new, 1)
    clock.advance(jump)

    page = repository.lists.get_page(Order.HOT)

    assert page.refreshed_at == clock()
    assert hot_values(repository) == pytest.approx(formula(repository, clock()), rel=1e-9)
    assert set(hot_values(repository)) == {*ids, new}
    at_once = ranking.hotness(1, 1, max(0, jump) / HOUR, Parameters())
    assert hot_values(repository)[new] == pytest.approx(at_once, rel=1e-9)
    clock.advance(-jump)
    assert repository.lists.get_page(Order.HOT).refreshed_at == clock()
    assert problems(repository) == []


@pytest.mark.parametrize("apart", [61, 600, 30 * DAY])
def test_processes_with_different_clocks_do_not_keep_rescoring_the_list(repository, clock, apart, monkeypatch):
    ahead = connect(repository.store.client, shards=repository.store.shards.count, clock=Clock(clock() + apart))
    fill(repository, clock, 5)
    scored, rescore = [], Hot.rescore
    monkeypatch.setattr(Hot, "rescore", lambda hot: scored.append(1) or rescore(hot))

    for _ in range(10):
        for process in (ahead, repository):
            process.lists.get_page(Order.HOT)
            housekeeping._score(process)

    assert 1 <= len(scored) <= 3  # ahead, back once, ahead again
    repository.store.client.delete(keys.BACK_LOCK)  # as it ends a minute later
    assert repository.lists.get_page(Order.HOT).refreshed_at == clock()


# Its size


@pytest.mark.deep
@pytest.mark.parametrize("shards", [1, 4])
def test_eleven_hundred_articles_are_trimmed_to_exactly_the_top_thousand(server_url, shards):
    clock = Clock()
    repository = connect(server_url, shards=shards, clock=clock)
    repository.prepare()
    ids = fill(repository, clock, 1100, views=1)
    chance = random.Random(2)
    put_counters(repository, {i: chance.randint(1, 10**6) for i in ids})
    clock.advance(60)

    repository.hot.rescore()

    exact = ordered(formula(repository))[:1000]
    assert ordered(hot_values(repository)) == exact
    assert listed(repository, Order.HOT) == exact
    assert repository.lists.get_page(Order.HOT).total == 1000
    with pytest.raises(PageNotFound):
        repository.lists.get_page(Order.HOT, 41)
    assert problems(repository) == []


def small(server_url: str, clock: Clock, shards: int, hot_size: int = 10) -> Repository:
    repository = connect(
        server_url, shards=shards, clock=clock, rules=default_rules(hot_size=hot_size, per_page=4)
    )
    repository.store.client.flushdb()
    repository.prepare()
    return repository


@pytest.mark.parametrize("shards", [1, 4])
def test_an_article_that_enters_the_top_only_by_rescoring_is_kept(server_url, clock, shards):
    repository = small(server_url, clock, shards)
    old = repository.imports.add([imported(n, clock() - 5 * DAY, votes=1) for n in range(10)])
    put_counters_with_views(repository, dict.fromkeys(old, 1500))
    repository.hot.rescore()
    new = [post(repository, 100 + n) for n in range(10)]
    put_counters_with_views(repository, dict.fromkeys(new, 50))
    before = hot_values(repository)
    assert min(before[i] for i in new) > max(before[i] for i in old)

    clock.advance(3 * DAY)
    repository.hot.rescore()

    assert set(hot_values(repository)) == set(old)
    assert problems(repository) == []


def put_counters_with_views(repository: Repository, numbers: dict[int, int]) -> None:
    """Write page view counters directly, and list the articles with one more view each."""
    put_counters(repository, {i: pv - 1 for i, pv in numbers.items()})
    for article_id in numbers:
        view(repository, article_id, 10**6)


@pytest.mark.needs("few shards")
def test_between_rescores_readers_see_no_more_articles_than_the_maximum_size(server_url, clock):
    for shards in (1, 4):
        repository = small(server_url, clock, shards)
        ids = fill(repository, clock, 14)
        assert len(hot_values(repository)) == 14

        assert listed(repository, Order.HOT) == ordered(formula(repository))[:10]
        assert repository.lists.get_page(Order.HOT).total == 10
        assert len(repository.lists.get_page(Order.HOT, 3).articles) == 2
        assert len(ids) == 14


@pytest.mark.needs("few shards")
def test_a_list_of_double_size_accepts_only_articles_that_would_be_kept(server_url, clock):
    repository = small(server_url, clock, 1)
    ids = fill(repository, clock, 20, views=1, groups=("python",))
    warm(repository, "python")
    assert len(hot_values(repository)) == 20
    *_, coldest = ordered(hot_values(repository))
    tenth = sorted(hot_values(repository).values(), reverse=True)[9]
    (cold,) = repository.imports.add([imported(100, clock() - 90 * DAY)])
    warm_one = post(repository, 101)

    count = repository.pageviews.record(cold, visit(1))
    assert count.counted
    assert count.hotness < tenth
    assert set(hot_values(repository)) == set(ids)
    view(repository, warm_one, 1)

    assert set(hot_values(repository)) == {*ids, warm_one} - {coldest}
    of_group = repository.store.shards.of(1).group_order(Order.HOT, "python")
    assert set(map(int, repository.store.client.zrange(of_group, 0, -1))) == {*ids} - {coldest}
    inside = ordered(hot_values(repository))[-1]
    view(repository, inside, 5)  # a listed article may always move
    assert hot_values(repository)[inside] == pytest.approx(formula(repository)[inside])
    repository.hot.rescore()
    assert len(hot_values(repository)) == 10
    assert problems(repository) == []


def remove_and_restore_all(repository: Repository) -> None:
    for article in repository.imports.iterate():
        repository.articles.remove(article.id, MODERATOR, "Spam")
        repository.articles.restore(article.id, MODERATOR, "It was not")


CHANGES_OF_MANY = {
    "a merge": lambda repository: repository.groups.merge("java", "python", MODERATOR),
    "restorations": remove_and_restore_all,
}


@pytest.mark.parametrize("shards", [1, 4])
@pytest.mark.parametrize("change", CHANGES_OF_MANY)
def test_bulk_changes_make_the_list_no_longer_than_views_do(server_url, clock, change, shards):
    repository = small(server_url, clock, shards)
    repository.groups.create("python", "Python")
    fill(repository, clock, 200, views=3, groups=("java",))
    repository.hot.rescore()
    assert len(hot_values(repository)) == 10

    CHANGES_OF_MANY[change](repository)

    assert len(hot_values(repository)) <= 20 * shards
    repository.hot.rescore()
    assert ordered(hot_values(repository)) == ordered(formula(repository))[:10]
    assert problems(repository) == []


def test_a_trim_that_arrives_after_another_rescore_removes_nothing(server_url, clock):
    repository = small(server_url, clock, 4)
    fill(repository, clock, 40, views=3)
    began = clock()

    def rescore():
        clock.advance(50 * HOUR)
        repository.hot.rescore()

    interleaved(repository, "lists/trim_hot", rescore).hot.rescore()

    assert clock() > began, "it was overtaken"
    assert ordered(hot_values(repository)) == ordered(formula(repository, clock()))[:10]
    assert problems(repository) == []


# Races


@pytest.mark.deep
@pytest.mark.needs("one transaction")
def test_a_page_shows_one_moment_while_the_list_is_rescored(repository, clock):
    """Use two clocks far apart: a page that mixes them shows an order that neither has."""
    old = repository.imports.add([imported(n, clock() - 5 * DAY, groups=("python",)) for n in range(40)])
    new = [post(repository, 100 + n, ("python",)) for n in range(40)]
    repository.pageviews.record_many([(i, visit(n), clock()) for i in old for n in range(1 + i % 40 * 2)])
    repository.pageviews.record_many([(i, visit(n), clock()) for i in new for n in range(1 + i % 40)])
    moments = (clock(), clock() + 40 * DAY)
    orders = {at: ordered(formula(repository, at)) for at in moments}
    assert len({tuple(order) for order in orders.values()}) == 2
    stop, turns = Event(), Semaphore(4)  # the list is not rescored so often that a page gives up

    def rescore():
        rounds = 0
        while not stop.is_set() or rounds < 20:
            turns.acquire(timeout=0.05)
            clock.now = moments[rounds % 2] + rounds / 1000  # no moment repeats
            repository.hot.rescore()
            rounds += 1

    def read():
        for slug in (None, "python"):
            page = repository.lists.get_page(Order.HOT, slug=slug, size=30)
            moment = moments[page.refreshed_at - moments[0] > DAY]
            assert [article.id for article in page.articles] == orders[moment][:30]
            turns.release()

    scorer = Thread(target=rescore)
    scorer.start()
    try:
        during(several(read, 25), read, repository)
    finally:
        stop.set()
        scorer.join()
    assert problems(repository) == []


# Damage


DAMAGES = {
    "text": lambda client, name: client.set(name, "no sketch"),
    "a broken sketch": lambda client, name: client.setrange(name, 15, "\x80" + 8 * "\x7f"),
}


@pytest.fixture
def damaged(repository, clock):
    """Return a store of viewed articles, the article to damage, and the keys of its shard."""
    ids = fill(repository, clock, 20, groups=("python",))
    discuss(repository, ids)
    repository.hot.rescore()
    keys_ = repository.store.shards.of(ids[4])
    return repository, ids[4], keys_


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_audit_finds_a_damaged_sketch_and_the_repair_resets_it(damaged, damage):
    repository, article_id, keys_ = damaged
    DAMAGES[damage](repository.store.client, keys_.visitors(article_id))

    assert any("its visitors are damaged" in problem for problem in problems(repository))
    repository.repair.run()

    assert problems(repository) == []
    view(repository, article_id, 70)
    assert repository.articles.get(article_id).uv == 1


@pytest.mark.parametrize("name", ["days:", "viewed:", "hot:score", "counter:views:"])
def test_a_view_that_cannot_be_counted_in_full_is_not_counted_at_all(damaged, name):
    repository, article_id, keys_ = damaged
    client = repository.store.client
    key = f"{keys_.prefix}{name}{article_id if name.endswith('views:') else ''}"
    client.delete(key)
    client.rpush(key, "damaged")
    before = contents(repository)

    with pytest.raises(StoreDamaged):
        repository.pageviews.record(article_id, visit(7))

    assert contents(repository) == before


def test_a_failed_rescore_changes_nothing(damaged, clock):
    repository, _, keys_ = damaged
    repository.store.client.delete(keys_.order(Order.HOT))
    repository.store.client.rpush(keys_.order(Order.HOT), "no list of ours")
    before = repository.store.client.hgetall(keys_.ranking)
    clock.advance(HOUR)

    with pytest.raises(StoreDamaged):
        repository.hot.rescore()

    assert repository.store.client.hgetall(keys_.ranking) == before


@pytest.mark.parametrize("size", [0, 1, 1000, 1001])
def test_a_list_of_recent_articles_counts_every_entry_of_the_hot_list(server_url, clock, size):
    repository = connect(server_url, clock=clock)
    repository.prepare()
    store, one = repository.store, repository.store.shards.all[0]
    ids = range(10_000, 10_000 + size)
    for key, values in (
        (one.order(Order.HOT), range(size)),
        (one.order(Order.TIME), (n % 2 for n in range(size))),
    ):
        if size:
            store.client.zadd(key, dict(zip(map(str, ids), values, strict=True)))

    page = gather_page(store, site_rankings(store, Order.HOT, since=1), 0, 25)

    recent = [n for n in reversed(ids) if n % 2]
    assert page.total == len(recent)
    assert page.ids == recent[:25]
