from collections import Counter

import pytest
import redis

from articles.domain import Choice, Order
from articles.errors import GroupNotFound, PageNotFound
from articles.repository import connect
from tests.repository.conftest import ALICE, BOB, CAROL


def post_many(repository, clock, count, groups=(), every=10.0):
    ids = []
    for n in range(count):
        ids.append(repository.articles.post(ALICE, "alice", f"T {n}", f"https://e.org/{n}", groups).id)
        clock.advance(every)
    return ids


def ids_of(page):
    return [article.id for article in page.articles]


def all_ids(repository, order, slug=None):
    first = repository.listings.page(order, 1, slug=slug)
    rest = [repository.listings.page(order, n, slug=slug) for n in range(2, first.pages + 1)]
    return [number for page in (first, *rest) for number in ids_of(page)]


def test_an_empty_site_has_one_empty_page(repository):
    page = repository.listings.page(Order.SCORE)

    assert (page.articles, page.total, page.pages, page.has_next) == ((), 0, 1, False)


@pytest.mark.parametrize("number", [0, -1, 4, 10**9])
def test_there_is_no_page_before_the_first_or_after_the_last(repository, clock, number):
    post_many(repository, clock, 60)

    with pytest.raises(PageNotFound):
        repository.listings.page(Order.SCORE, number)


def test_pages_of_25_by_time_and_score_are_complete(repository, clock):
    ids = post_many(repository, clock, 60)
    for voter in range(100, 130):
        repository.votes.cast(ids[7], voter, Choice.VOTE)
        repository.votes.cast(ids[-1], voter, Choice.OPPOSE)

    assert [len(repository.listings.page(Order.TIME, n).articles) for n in (1, 2, 3)] == [25, 25, 10]
    assert all_ids(repository, Order.TIME) == ids[::-1]
    without = [number for number in ids[::-1] if number not in (ids[7], ids[-1])]
    assert all_ids(repository, Order.SCORE) == [ids[7], *without, ids[-1]]


def test_each_article_comes_whole_with_the_readers_own_choice(repository, article, clock):
    repository.votes.cast(article, BOB, Choice.OPPOSE)

    (found,) = repository.listings.page(Order.SCORE, reader=BOB).articles

    assert (found.id, found.title, found.link, found.poster, found.poster_name) == (
        article,
        "A title",
        "https://example.org/a",
        ALICE,
        "alice",
    )
    assert (found.votes, found.opposes, found.points, found.choice) == (1, 1, 0, Choice.OPPOSE)
    assert (found.posted_at, found.score, found.closes_at) == (clock.now, clock.now, clock.now + 604800)
    assert found.groups == ("python",)
    assert repository.listings.page(Order.SCORE).articles[0].choice is Choice.NONE


def test_articles_of_one_moment_are_ordered_by_the_bytes_of_their_ids(repository, clock):
    post_many(repository, clock, 30, every=0)

    expected = sorted(range(1, 31), key=lambda number: str(number).encode(), reverse=True)
    assert all_ids(repository, Order.TIME) == expected
    assert all_ids(repository, Order.SCORE) == expected


@pytest.mark.parametrize("order", list(Order))
def test_a_warm_group_ranking_shows_every_change_at_once(repository, article, clock, order):
    def listed():
        return all_ids(repository, order, "python")

    assert listed() == [article]
    clock.advance(100)
    newer = repository.articles.post(ALICE, "alice", "B", "https://example.org/b", ["python"]).id
    assert listed() == [newer, article]
    other = repository.articles.post(ALICE, "alice", "C", "https://example.org/c").id
    repository.groups.assign(other, ["python"])
    assert set(listed()) == {newer, other, article}
    repository.groups.assign(other, [], ["python"])
    assert listed() == [newer, article]
    repository.votes.cast(article, BOB, Choice.VOTE)
    assert listed() == ([article, newer] if order is Order.SCORE else [newer, article])
    repository.articles.remove(newer, CAROL, "spam")
    assert listed() == [article]
    repository.articles.restore(newer, CAROL, "ham")
    assert set(listed()) == {newer, article}
    assert list(repository.audit.findings()) == []


def test_a_group_ranking_is_kept_for_60_seconds_after_the_last_read(repository, article):
    key = repository.store.shards.of(article).group_order(Order.SCORE, "python")
    repository.listings.page(Order.SCORE, slug="python")
    assert 58 <= repository.store.client.ttl(key) <= 60

    repository.store.client.expire(key, 5)
    repository.listings.page(Order.SCORE, slug="python")

    assert 58 <= repository.store.client.ttl(key) <= 60


def test_unknown_groups_are_told_and_leave_no_key(repository, article):
    before = set(repository.store.client.keys())

    with pytest.raises(GroupNotFound):
        repository.listings.page(Order.SCORE, slug="nope")

    assert set(repository.store.client.keys()) == before


def test_a_merged_group_says_where_it_went(repository, article):
    repository.groups.create("snakes", "Snakes")
    repository.groups.merge("python", "snakes", CAROL)

    with pytest.raises(GroupNotFound) as caught:
        repository.listings.page(Order.SCORE, slug="python")

    assert caught.value.moved_to == "snakes"


def test_a_group_named_like_a_ranking_is_a_group_like_any_other(repository):
    first = repository.articles.post(ALICE, "alice", "A", "https://example.org/1", ["score", "time"]).id
    second = repository.articles.post(ALICE, "alice", "B", "https://example.org/2").id

    assert all_ids(repository, Order.SCORE, "score") == [first]
    assert set(all_ids(repository, Order.SCORE)) == {first, second}


class CountingConnection(redis.UnixDomainSocketConnection):
    """Counts what is sent: each call is one trip to the store, whatever it carries."""

    trips = 0
    commands: Counter[str] = Counter()

    def send_packed_command(self, command, check_health=True):
        CountingConnection.trips += 1
        sent = command if isinstance(command, bytes) else b"".join(command)
        CountingConnection.commands["all"] += sent.count(b"\r\n*") + 1
        super().send_packed_command(command, check_health)


@pytest.fixture
def counted(server_url, clock):
    pool = redis.ConnectionPool.from_url(server_url, decode_responses=True, protocol=2)
    pool.connection_class = CountingConnection
    repository = connect(redis.Redis(connection_pool=pool), clock=clock)
    repository.prepare()
    post_many(repository, clock, 60, ["python"])
    repository.listings.page(Order.SCORE, slug="python")
    repository.votes.cast(1, BOB, Choice.VOTE)
    return repository


def trips(action):
    before = CountingConnection.trips
    action()
    return CountingConnection.trips - before


def test_round_trips_are_as_budgeted(counted):
    assert trips(lambda: counted.votes.cast(1, BOB, Choice.OPPOSE)) == 1
    assert trips(lambda: counted.articles.post(ALICE, "alice", "T", "https://e.org/new")) == 4
    assert trips(lambda: counted.articles.get(1, BOB)) == 1
    for order in Order:
        assert trips(lambda order=order: counted.listings.page(order, 2, reader=BOB)) == 2
    assert trips(lambda: counted.listings.page(Order.SCORE, 2, slug="python", reader=BOB)) == 2
    counted.store.client.delete("score:python")
    assert trips(lambda: counted.listings.page(Order.SCORE, 2, slug="python", reader=BOB)) == 3


def test_a_page_costs_the_same_however_large_the_site(counted, clock):
    def commands_of_a_page():
        before = CountingConnection.commands["all"]
        counted.listings.page(Order.SCORE, 1, reader=BOB)
        return CountingConnection.commands["all"] - before

    small = commands_of_a_page()
    for n in range(200):
        counted.articles.post(ALICE, "alice", "T", f"https://e.org/more/{n}")

    assert commands_of_a_page() == small
