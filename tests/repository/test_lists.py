"""Lists: pages in every order, exact immediately, at a cost that does not grow."""

import random
from collections import Counter
from dataclasses import replace

import pytest

from articles.domain import lists
from articles.domain.articles import Choice
from articles.domain.errors import PageNotFound, PageTooDeep
from articles.domain.lists import Order
from articles.repository.lists import gathering, pages
from articles.text.searching import Hiding
from tests.cast import ALICE, BOB
from tests.every_server import calls_in, reset_statistics
from tests.factories import discuss, imported, view
from tests.rules import connect
from tests.store_state import new_client

pytestmark = pytest.mark.one_shard


def post_many(repository, clock, count, groups=(), every=10.0):
    ids = []
    for n in range(count):
        ids.append(repository.articles.post(ALICE, "alice", f"T {n}", f"https://e.org/{n}", groups).id)
        clock.advance(every)
    return ids


def ids_of(page):
    return [article.id for article in page.articles]


def all_ids(repository, order, slug=None):
    first = repository.lists.get_page(order, 1, slug=slug)
    rest = [repository.lists.get_page(order, n, slug=slug) for n in range(2, first.pages + 1)]
    return [number for page in (first, *rest) for number in ids_of(page)]


@pytest.mark.parametrize("number", [0, -1, 4, 10**9])
def test_a_list_has_no_page_before_the_first_or_after_the_last(repository, clock, number):
    post_many(repository, clock, 60)

    with pytest.raises(PageNotFound):
        repository.lists.get_page(Order.SCORE, number)


def test_articles_posted_at_one_moment_are_ordered_by_the_bytes_of_their_ids(repository, clock):
    post_many(repository, clock, 30, every=0)

    expected = sorted(range(1, 31), key=lambda number: str(number).encode(), reverse=True)
    assert all_ids(repository, Order.TIME) == expected
    assert all_ids(repository, Order.SCORE) == expected


def test_a_group_ranking_is_kept_for_60_seconds_after_the_last_read(repository, article):
    key = repository.store.shards.of(article).group_order(Order.SCORE, "python")
    repository.lists.get_page(Order.SCORE, slug="python")
    assert 58 <= repository.store.client.ttl(key) <= 60

    repository.store.client.expire(key, 5)
    repository.lists.get_page(Order.SCORE, slug="python")

    assert 58 <= repository.store.client.ttl(key) <= 60


class CountingConnection:
    """Mixed into a kind of connection: counts round trips. Each send is one, whatever it carries."""

    trips = 0
    commands: Counter[str] = Counter()

    def send_packed_command(self, command, check_health=True):
        CountingConnection.trips += 1
        sent = command if isinstance(command, bytes) else b"".join(command)
        CountingConnection.commands["all"] += sent.count(b"\r\n*") + 1
        super().send_packed_command(command, check_health)


@pytest.fixture
def counted(server_url, clock):
    client = new_client(server_url)
    pool = client.connection_pool
    pool.connection_class = type("Counting", (CountingConnection, pool.connection_class), {})
    repository = connect(client, clock=clock)
    repository.prepare()
    for number in post_many(repository, clock, 60, ["python"]):
        view(repository, number, 1)
        discuss(repository, [number])
    repository.lists.get_page(Order.SCORE, slug="python")
    repository.lists.get_page(Order.HOT)
    repository.votes.cast(1, BOB, Choice.VOTE)
    return repository


def trips(action):
    before = CountingConnection.trips
    action()
    return CountingConnection.trips - before


@pytest.mark.needs("one server")
def test_round_trips_stay_within_budget(counted):
    assert trips(lambda: counted.votes.cast(1, BOB, Choice.OPPOSE)) == 1
    assert trips(lambda: counted.articles.post(ALICE, "alice", "T", "https://e.org/new")) == 4
    assert trips(lambda: counted.articles.get(1, BOB)) == 1
    for order in Order:
        assert trips(lambda order=order: counted.lists.get_page(order, 2, reader=BOB)) == 1
    assert trips(lambda: counted.lists.get_page(Order.SCORE, 2, slug="python", reader=BOB)) == 1
    counted.store.client.delete("score:python")
    assert trips(lambda: counted.lists.get_page(Order.SCORE, 2, slug="python", reader=BOB)) == 1


@pytest.mark.parametrize(("count", "more"), [(25, False), (26, True)])
def test_an_exactly_full_page_without_hidden_groups_is_the_last(repository, clock, count, more):
    post_many(repository, clock, count)

    page = repository.lists.get_page(Order.TIME, hidden=Hiding(("go",)))

    assert (len(page.articles), page.has_next) == (25, more)


OF_THE_COUNTING = ("config|resetstat", "info", "ping", "replconf", "publish")
"""Commands of the test itself, and of replicas and sentinels."""


def test_the_servers_work_for_a_page_does_not_grow_with_site_or_group(server_url, clock):
    repository = connect(server_url, clock=clock)
    repository.prepare()
    client = repository.store.client

    def done_for_a_page(slug):
        repository.lists.get_page(Order.SCORE, slug=slug, reader=BOB)
        reset_statistics(client)
        repository.lists.get_page(Order.SCORE, slug=slug, reader=BOB)
        return {name: count for name, count in calls_in(client).items() if name not in OF_THE_COUNTING}

    def fill(numbers):
        repository.imports.add([imported(n, clock() - 9e6 - n, groups=("python",)) for n in numbers])

    fill(range(30))
    small = [done_for_a_page(slug) for slug in (None, "python")]
    fill(range(30, 3000))

    assert [done_for_a_page(slug) for slug in (None, "python")] == small
    assert "sismember" not in small[0], "choices are read from the member's own lists"


@pytest.mark.parametrize("shards", [1, 2])
def test_several_groups_and_hidden_ones_are_counted_up_to_a_limit(server_url, clock, shards):
    repository = connect(server_url, shards=shards, clock=clock)
    repository.prepare()
    client = repository.store.client
    of_two, of_one = {"slugs": ("python", "redis")}, {"hidden": Hiding(("python",))}

    def fill(numbers):
        repository.imports.add([imported(n, clock() - 9e6 - n, groups=("python", "redis")) for n in numbers])

    fill(range(1, 21))
    counted = [repository.lists.get_page(Order.TIME, **asked).total for asked in (of_two, of_one)]
    most = 5000 * shards + 1  # in two groups each; of two shards, one has 5,000
    fill(range(21, most + 1))

    assert counted == [20, 0]
    assert [repository.lists.get_page(Order.TIME, **asked).total for asked in (of_two, of_one)] == [2 * most, 0]
    reset_statistics(client)
    repository.lists.get_page(Order.TIME, **of_two)
    assert calls_in(client).get("smembers", 0) == 2 * (shards - 1), "of the shard with few"


@pytest.mark.parametrize(
    "asked", [{}, {"slug": "python"}, {"slugs": ("python", "redis")}, {"hidden": Hiding(("java",))}]
)
def test_numbered_pages_end_at_a_limit_and_continue_by_cursor(repository, clock, monkeypatch, asked):
    for module in (lists, pages):
        monkeypatch.setattr(module, "MOST_PAGED", 50)
    repository.groups.create("redis", "Redis")
    ids = post_many(repository, clock, 80, ["python"])

    last = repository.lists.get_page(Order.TIME, 2, **asked)

    assert (len(last.articles), last.has_next) == (25, False)
    with pytest.raises(PageTooDeep):
        repository.lists.get_page(Order.TIME, 3, **asked)
    shown = ids[:-51:-1]
    on = repository.lists.get_page(Order.TIME, 3, shown=shown, **asked)
    assert (len(on.articles), on.has_next) == (25, True)


def test_the_deepest_page_of_many_shards_reads_few_entries(server_url, clock, monkeypatch):
    repository = connect(server_url, shards=16, clock=clock)
    repository.prepare()
    chance, read = random.Random(5), []
    with repository.store.pipeline() as pipe:
        for number in range(1, 12_001):
            key = repository.store.shards.of(number).order(Order.SCORE)
            pipe.zadd(key, {str(number): clock() + chance.randrange(400_000)})
        pipe.execute()
    cut = gathering.cut
    monkeypatch.setattr(
        gathering,
        "cut",
        lambda windows, *rest: read.append(sum(len(w.entries) for w in windows)) or cut(windows, *rest),
    )

    page = repository.lists.get_page(Order.SCORE, lists.MOST_PAGED // 25)

    assert page.total == 12_000
    assert sum(read) < 5_000


def test_visitors_are_counted_only_where_they_are_asked_for(repository, article):
    view(repository, article, 1, 2)

    counted = repository.lists.get_page(Order.SCORE).articles[0]
    uncounted = repository.lists.get_page(Order.SCORE, with_visitors=False).articles[0]

    assert (counted.pv, counted.uv) == (2, 2)
    assert uncounted == replace(counted, uv=0)
