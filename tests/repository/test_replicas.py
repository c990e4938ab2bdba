"""Lists that readers without account get from replicas, and all that they do not get from there."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from articles.domain.articles import Choice
from articles.domain.lists import Order, Period
from articles.repository import Repository
from articles.repository.store.clients import cluster_nodes
from articles.text.searching import Hiding
from tests.cast import ALICE
from tests.clock import Clock
from tests.factories import discuss, post, view
from tests.repository.exchanges import Exchanges
from tests.repository.slot_moves import errors_at
from tests.repository.usage import warm
from tests.rules import connect
from tests.store_state import problems
from tests.topologies.cluster import Cluster
from tests.topologies.node import Node
from tests.topologies.replication import Replication
from tests.waiting import until

PLAIN = [Order.SCORE, Order.TIME, Order.POINTS]


@dataclass
class Store:
    """A store with replicas, which reads them."""

    url: str
    shards: int
    primaries: list[Node]
    replicas: list[Node]
    until_announced: Callable[[], None] = lambda: None  # waits until clients can discover the replicas

    def connect(self, clock: Clock, **options) -> Repository:
        return connect(self.url, shards=self.shards, clock=clock, reads_replicas=True, **options)

    def until_in_step(self) -> None:
        """Wait until all replicas have what has been written."""
        until(lambda: all(replica.is_in_step() for replica in self.replicas))
        offsets = sorted(primary.offset() for primary in self.primaries)
        until(lambda: sorted(replica.offset() for replica in self.replicas) >= offsets)
        self.until_announced()


@pytest.fixture(scope="module", params=["sentinel", "cluster"])
def replicated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder = tmp_path_factory.mktemp("replicated") / "store"
    if request.param == "cluster":
        with Cluster(folder, primaries=2) as cluster:
            yield Store(
                cluster.url, 16, cluster.primaries(), cluster.replicas(), cluster.until_replicas_are_announced
            )
    else:
        with Replication(folder, replicas=1, sentinels=1, down_after_ms=60_000) as replication:
            yield Store(replication.url, 1, [replication.primary()], replication.replicas())


@pytest.fixture
def reading(replicated: Store, clock: Clock) -> Repository:
    """A repository with articles, whose rankings exist and whose replicas have them."""
    filling = connect(replicated.url, shards=replicated.shards, clock=clock)
    filling.store.client.flushdb()
    filling.prepare()
    for number in range(12):
        view(filling, post(filling, number, ("python",)), 1)
    discuss(filling, range(1, 13))
    warm(filling, "python")
    replicated.until_in_step()
    repository = replicated.connect(clock)
    read_plain_lists(repository)
    return repository


def read_plain_lists(repository: Repository) -> None:
    for order in PLAIN:
        assert repository.lists.get_page(order).total == 12


def at(nodes: list[Node], exchanges: Exchanges) -> int:
    """Return how many packets went to these nodes."""
    return sum(exchanges.by_port[node.port] for node in nodes)


@pytest.mark.parametrize("order", PLAIN)
def test_the_sites_lists_come_from_replicas(replicated, reading, exchanges, order):
    with exchanges.counted():
        assert reading.lists.get_page(order).total == 12
    assert at(replicated.primaries, exchanges) == 0
    assert 1 <= at(replicated.replicas, exchanges) <= 2 * len(replicated.replicas)


def test_all_that_a_member_reads_comes_from_the_primary(replicated, reading, exchanges):
    reading.votes.cast(1, ALICE, Choice.OPPOSE)
    with exchanges.counted():
        for order in Order:
            for listing in ({}, {"slug": "python"}, {"slugs": ("python",)}):
                page = reading.lists.get_page(order, reader=ALICE, **listing)
                assert Choice.OPPOSE in {article.choice for article in page.articles}
        reading.articles.get(1, ALICE)
    assert at(replicated.replicas, exchanges) == 0


@pytest.mark.parametrize(
    "listing",
    [
        {"order": Order.HOT},
        {"order": Order.SCORE, "slug": "python"},
        {"order": Order.POINTS, "period": Period.DAY},
    ],
)
def test_rankings_that_a_read_may_make_come_from_the_primary(replicated, reading, exchanges, listing):
    with exchanges.counted():
        assert reading.lists.get_page(**listing).total == 12
    assert at(replicated.primaries, exchanges) >= len(replicated.primaries)


def test_a_ranking_that_is_missing_is_made_while_replicas_serve(replicated, reading):
    keys = reading.store.shards.all
    for shard in keys:
        reading.store.client.delete(shard.group_order(Order.SCORE, "python"))
    replicated.until_in_step()

    assert reading.lists.get_page(Order.SCORE, slug="python").total == 12


def test_nothing_is_written_to_a_replica(replicated, reading, exchanges):
    for replica in replicated.replicas:
        replica.run("CONFIG", "RESETSTAT")
    read_plain_lists(reading)
    reading.votes.cast(2, ALICE, Choice.VOTE)
    post(reading, 100)
    reading.hot.rescore()
    for order in Order:
        reading.lists.get_page(order, slugs=("python",), hidden=Hiding(("none",)))

    for replica in replicated.replicas:
        assert "READONLY" not in errors_at(replica)
    assert problems(reading) == []


def test_a_replica_that_lacks_the_scripts_is_taught_them(replicated, reading, exchanges):
    for replica in replicated.replicas:
        replica.run("SCRIPT", "FLUSH")
    with exchanges.counted():
        read_plain_lists(reading)
    assert at(replicated.primaries, exchanges) == 0
    with exchanges.counted():
        read_plain_lists(reading)
    assert exchanges.containing(b"EVAL\r\n") == 0


def test_while_a_replica_hangs_the_primary_serves_all(replicated, reading, clock):
    hasty = replicated.connect(clock, timeout_seconds=0.5)
    read_plain_lists(hasty)
    for replica in replicated.replicas:
        replica.freeze()
    try:
        for voter in range(1000, 1004):
            read_plain_lists(hasty)
            assert hasty.votes.cast(1, voter, Choice.VOTE).votes == voter - 1000 + 2
    finally:
        for replica in replicated.replicas:
            replica.thaw()


def test_a_cluster_without_replicas_serves_all_from_its_primaries(cluster, clock):
    repository = connect(cluster.url, shards=16, clock=clock, reads_replicas=True)
    repository.store.client.flushdb()
    repository.prepare()
    post(repository, 1)

    assert repository.lists.get_page(Order.SCORE).total == 1


@pytest.mark.nodes
def test_a_replica_that_is_added_later_serves_lists(tmp_path, clock, exchanges, monkeypatch):
    with Cluster(tmp_path / "store", primaries=1, replicas_of_each=0) as cluster:
        repository = connect(cluster.url, shards=16, clock=clock, reads_replicas=True)
        repository.prepare()
        post(repository, 1)
        assert repository.lists.get_page(Order.SCORE).total == 1
        replica = cluster.add_replica(cluster.primaries()[0])
        cluster.until_replicas_are_announced()

        def read_from_replica() -> bool:
            with exchanges.counted():
                assert repository.lists.get_page(Order.SCORE).total == 1
            return at([replica], exchanges) > 0

        assert not read_from_replica()
        monkeypatch.setattr(cluster_nodes, "SECONDS_BETWEEN_LOOKS_FOR_REPLICAS", 0)
        read_from_replica()
        assert read_from_replica()
