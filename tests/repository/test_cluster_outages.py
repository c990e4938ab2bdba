"""A site on a cluster while nodes are away, hang, or are replaced."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

import pytest
import redis
from redis._parsers.base import BaseParser
from redis.cluster import NodesManager
from redis.crc import key_slot
from redis.exceptions import MaxConnectionsError, RedisClusterException, SlotNotCoveredError

from articles.domain.articles import Choice
from articles.domain.errors import StoreUnavailable, StoreUnconfirmed
from articles.domain.lists import Order
from articles.repository import Repository, answer_within
from articles.repository.store.clients import cluster_nodes
from articles.repository.store.clients.cluster_exchange import Exchange
from articles.repository.store.clients.guarded_connection import store_errors
from tests.factories import post
from tests.repository.exchanges import lose_replies
from tests.repository.slot_moves import SlotMove
from tests.repository.spread import KEYS, SHARDS, prepared
from tests.rules import connect
from tests.store_state import problems
from tests.topologies.cluster import Cluster
from tests.topologies.node import Node
from tests.waiting import SECONDS, until


@pytest.fixture(scope="module")
def replicated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three primaries with a replica each, for tests that restart what they end."""
    with Cluster(tmp_path_factory.mktemp("replicated") / "store") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def bare_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three primaries without replicas, which serve their slots while others are away."""
    own = {"cluster-require-full-coverage": "no"}
    with Cluster(tmp_path_factory.mktemp("bare") / "store", replicas_of_each=0, settings=own) as cluster:
        yield cluster


def two_keys(cluster: Cluster) -> tuple[str, str]:
    """Return keys on two nodes."""
    other = next(key for key in KEYS if cluster.owner_of(key) is not cluster.owner_of(KEYS[0]))
    return KEYS[0], other


def test_a_process_that_starts_while_the_first_primary_is_away_serves_the_others(bare_cluster, clock):
    repository = prepared(bare_cluster, clock)
    articles = [post(repository, number) for number in range(SHARDS)]
    gone = bare_cluster.primaries()[0]
    own = set(bare_cluster.slots_of(gone))
    keys = {article: repository.store.shards.of(article).article(article) for article in articles}
    others = [article for article, key in keys.items() if key_slot(key.encode()) not in own]
    gone.kill()
    try:
        started = connect(bare_cluster.url, shards=SHARDS, clock=clock)
        assert [started.votes.cast(article, 7, Choice.VOTE).votes for article in others] == [2] * len(others)
    finally:
        gone.restart()
        bare_cluster.until_whole()


@pytest.mark.topology
@pytest.mark.parametrize(
    ("how", "reads_replicas", "number"),
    [("killed", False, 0), ("handed over", False, 1), ("handed over", True, 2)],
)
def test_a_primary_is_replaced_without_an_error(replicated, clock, how, reads_replicas, number, exchanges):
    """Each case replaces a primary of its own: nodes do not vote twice for one's successor within seconds."""
    repository = prepared(replicated, clock, reads_replicas=reads_replicas)
    idle = connect(replicated.url, shards=SHARDS, clock=clock)
    assert problems(idle) == []
    earlier = replicated.primaries()[number]
    articles = [post(repository, number) for number in range(SHARDS)]
    keys = {article: repository.store.shards.of(article).article(article) for article in articles}
    article, key = next(item for item in keys.items() if replicated.owner_of(item[1]) is earlier)
    repository.lists.get_page(Order.SCORE)
    if how == "killed":
        earlier.kill()
        replicated.until_failed_over(key_slot(key.encode()), earlier)
    else:
        (replica,) = replicated.replicas(earlier)
        replicated.hand_over(replica)

    with exchanges.counted():
        assert repository.votes.cast(article, 7, Choice.VOTE).votes == 2
    assert exchanges.containing(b"EVALSHA") <= 2
    assert problems(idle) == [], "which has sent no command that would have been refused"
    assert repository.articles.get(article, 7).choice is Choice.VOTE
    if how == "killed":
        earlier.restart()
        replicated.until_whole()


def test_what_a_node_has_received_is_not_sent_again(spread, exchanges, monkeypatch):
    article = post(spread, 1)
    spread.votes.cast(article, 7, Choice.VOTE)
    lose_replies(monkeypatch, 1)

    with exchanges.counted(), pytest.raises(StoreUnconfirmed):
        spread.votes.cast(article, 8, Choice.VOTE)
    assert exchanges.containing(b"EVALSHA") == 1
    assert spread.votes.cast(article, 8, Choice.VOTE).votes == 3, "it was executed"


def test_a_page_that_only_reads_asks_once_more(spread, exchanges, monkeypatch):
    client, key = spread.store.client, KEYS[0]
    client.set(key, "value")
    lose_replies(monkeypatch, 1)
    with answer_within(10), exchanges.counted():
        assert client.get(key) == "value"
    assert exchanges.containing(b"GET") == 2

    lose_replies(monkeypatch, 50)
    with answer_within(10), exchanges.counted(), pytest.raises(redis.ConnectionError):
        client.get(key)
    assert exchanges.containing(b"GET") <= 2


def test_a_change_that_was_sent_after_a_redirection_is_unconfirmed(cluster, spread, monkeypatch):
    article = post(spread, 1)
    spread.votes.cast(article, 7, Choice.VOTE)
    SlotMove.begin(cluster, spread.store.shards.of(article).article(article)).finish()
    attempt = Exchange._attempt

    def lose_second(self, units, *, is_first):
        with pytest.MonkeyPatch.context() as patch:
            if not is_first:
                lose_replies(patch, 1)
            attempt(self, units, is_first=is_first)

    monkeypatch.setattr(Exchange, "_attempt", lose_second)
    with pytest.raises(StoreUnconfirmed):
        spread.votes.cast(article, 8, Choice.VOTE)


def test_a_node_that_hangs_holds_up_only_its_own_shards(cluster, clock, exchanges):
    prepared(cluster, clock)
    repository = connect(cluster.url, shards=SHARDS, clock=clock, timeout_seconds=0.5)
    client, (hanging, other) = repository.store.client, two_keys(cluster)
    for key in KEYS:
        client.set(key, "value")

    with cluster.owner_of(hanging).frozen():
        with exchanges.counted(), pytest.raises(StoreUnconfirmed), repository.store.commands():
            client.get(hanging)
        sent = dict(exchanges.by_port)
        assert sent.pop(next(node.port for node in cluster.nodes if not node.is_up)) == 1, "asked for nodes, too"
        for _ in range(20):
            assert client.get(other) == "value"
        assert sent, "another node said where all are"
    until(lambda: reads(repository, hanging), 20)


def reads(repository: Repository, key: str) -> bool:
    try:
        return repository.store.client.get(key) == "value"
    except redis.RedisError:
        return False


def test_no_call_waits_while_another_thread_discovers_the_nodes(cluster, spread, monkeypatch):
    client, began, ends = spread.store.client, Event(), Event()
    client.set(KEYS[0], "value")

    def initialize(self, **options):
        began.set()
        assert ends.wait(60)

    monkeypatch.setattr(NodesManager, "initialize", initialize)
    monkeypatch.setattr(cluster_nodes, "_LEAST_SECONDS_BETWEEN_DISCOVERIES", 0)
    discovering = Thread(target=client.nodes.discover)
    discovering.start()
    try:
        assert began.wait(60)
        reading = Thread(target=client.get, args=(KEYS[0],), daemon=True)
        reading.start()
        reading.join(30)
        assert not reading.is_alive()
    finally:
        ends.set()
        discovering.join()


def everything(repository: Repository, article: int) -> list[Callable[[], object]]:
    return [
        lambda: repository.lists.get_page(Order.SCORE),
        lambda: repository.lists.get_page(Order.HOT),
        lambda: repository.articles.get(article),
        lambda: repository.votes.cast(article, 9, Choice.VOTE),
        lambda: post(repository, 2),
        repository.changes.get_moments,
        repository.hot.rescore,
        repository.inspection.get_overview,
        repository.store.layout,
        lambda: list(repository.audit.run()),
        repository.prepare,
        repository.pageviews.list_days,
    ]


@pytest.mark.topology
@pytest.mark.parametrize("how", ["kill", "freeze"])
def test_a_cluster_that_is_gone_is_unavailable_in_time(tmp_path, clock, how):
    with Cluster(tmp_path / "store", replicas_of_each=0) as cluster:
        repository = prepared(cluster, clock, timeout_seconds=10)
        article = post(repository, 1)
        quick = connect(cluster.url, shards=SHARDS, clock=clock, timeout_seconds=0.5)
        quick.articles.get(article)
        for node in cluster.nodes:
            getattr(node, how)()

        for hasty in (quick, connect(cluster.url, shards=SHARDS, clock=clock, timeout_seconds=0.5)):

            def ask(store=hasty) -> None:
                for act in everything(store, article):
                    with pytest.raises(StoreUnavailable):
                        act()

            with ThreadPoolExecutor() as pool:  # each call costs at most two timeouts, then none
                pool.submit(ask).result(timeout=SECONDS)
        for node in cluster.nodes:
            node.thaw() if how == "freeze" else node.restart()
        cluster.until_serving()
        if how == "freeze":
            until(lambda: lists_one(quick), 20)


def lists_one(repository: Repository) -> bool:
    try:
        return repository.lists.get_page(Order.SCORE).total == 1
    except StoreUnavailable:
        return False


@pytest.mark.topology
def test_a_part_of_a_cluster_that_is_gone_is_unavailable(tmp_path, clock):
    settings = {"cluster-require-full-coverage": "no"}
    with Cluster(tmp_path / "store", replicas_of_each=0, settings=settings) as cluster:
        repository = prepared(cluster, clock)
        articles = [post(repository, number) for number in range(6)]
        gone = cluster.owner_of(repository.store.shards.of(articles[0]).prefix)
        gone.kill()

        outcomes = {}
        for article in articles:
            is_gone = cluster_owns(gone, cluster, repository, article)
            try:
                outcomes[article] = repository.votes.cast(article, 9, Choice.VOTE).votes == 2
            except StoreUnavailable:
                outcomes[article] = None
            assert outcomes[article] is (None if is_gone else True)
        assert None in outcomes.values()
        assert True in outcomes.values()


def cluster_owns(gone: Node, cluster: Cluster, repository: Repository, article: int) -> bool:
    slot = key_slot(repository.store.shards.of(article).prefix.encode())
    return all(slot not in cluster.slots_of(node) for node in cluster.primaries())


@pytest.mark.parametrize(
    "reply",
    [
        "CLUSTERDOWN The cluster is down",
        "CLUSTERDOWN Hash slot not served",
        "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
        "TRYAGAIN Multiple keys request during rehashing of slot",
        "MOVED 1 127.0.0.1:1",
        "ASK 1 127.0.0.1:1",
        "READONLY You can't write against a read only replica.",
        "LOADING Valkey is loading the dataset in memory",
        "NOREPLICAS Not enough good replicas to write.",
        "MISCONF Valkey is configured to save RDB snapshots",
        "ERR Script attempted to access a non local key in a cluster node script: x, on @user_script:2.",
        "ERR Script attempted to execute a command while the cluster is down script: x, on @user_script:2.",
        "ERR max number of clients reached",
    ],
)
def test_what_a_node_says_that_cannot_serve_is_an_unavailable_store(reply):
    with pytest.raises(StoreUnavailable), store_errors():
        raise BaseParser.parse_error(reply)


@pytest.mark.parametrize("kind", [SlotNotCoveredError, RedisClusterException, MaxConnectionsError])
def test_an_error_of_the_client_itself_is_an_unavailable_store(kind):
    with pytest.raises(StoreUnavailable), store_errors():
        raise kind("none")
