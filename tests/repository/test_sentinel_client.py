"""A site whose store is the primary that sentinels name."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from articles.domain.articles import Choice
from articles.domain.errors import StoreUnavailable, StoreUnconfirmed
from articles.domain.lists import Order
from articles.repository import Repository
from articles.repository.store.clients.client import make_cache_client, make_clients
from tests.clock import Clock
from tests.factories import post
from tests.rules import connect
from tests.store_state import problems
from tests.topologies.node import HOST, PASSWORD
from tests.topologies.replication import SENTINEL_PASSWORD, Replication
from tests.waiting import SECONDS, until


@pytest.fixture(scope="module")
def replication(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replication]:
    """A primary, two replicas and three sentinels, all with passwords, for tests that restart what they end."""
    with Replication(tmp_path_factory.mktemp("replication") / "store", has_password=True) as replication:
        yield replication


@pytest.fixture
def watched(replication: Replication, clock: Clock) -> Repository:
    """An empty repository on the primary."""
    return prepared(replication, clock)


def prepared(replication: Replication, clock: Clock, **options) -> Repository:
    repository = connect(replication.url, shards=4, clock=clock, **options)
    repository.store.client.flushdb()
    repository.prepare()
    return repository


def votes_of(repository: Repository, article: int, voter: int) -> int | None:
    """Return the votes after this one; None while the store is away."""
    try:
        return repository.votes.cast(article, voter, Choice.VOTE).votes
    except StoreUnavailable:
        return None


def test_the_cache_of_the_same_service_is_another_database(replication, watched):
    cache = make_cache_client(replication.url + "&db=1", timeout_seconds=10)
    keys = watched.store.client.dbsize()
    cache.flushdb()

    assert cache.set("key", "value")
    assert cache.get("key") == b"value"
    assert watched.store.client.dbsize() == keys


def test_a_demoted_primary_executes_nothing_and_is_left(replication, watched):
    article, primary = post(watched, 1), replication.primary()
    connections = primary.info("stats")["total_connections_received"]
    primary.run("REPLICAOF", HOST, 1)
    try:
        with pytest.raises(StoreUnavailable) as refused:
            watched.votes.cast(article, 7, Choice.VOTE)
    finally:
        primary.run("REPLICAOF", "NO", "ONE")

    assert not isinstance(refused.value, StoreUnconfirmed), "it was not executed"
    assert watched.votes.cast(article, 7, Choice.VOTE).votes == 2
    assert primary.info("stats")["total_connections_received"] > connections
    replication.until_whole()


def test_sentinels_that_are_dead_or_hang_cost_their_timeouts(replication, watched, clock):
    article = post(watched, 1)
    dead, hanging, last = replication.sentinels
    dead.kill()
    try:
        with hanging.frozen():
            assert connect(replication.url, shards=4, clock=clock).articles.get(article).votes == 1
            with last.frozen():
                late = connect(replication.url, shards=4, clock=clock)

                def ask() -> None:
                    with pytest.raises(StoreUnavailable, match="No master found for 'site'") as away:
                        late.articles.get(article)
                    assert PASSWORD not in str(away.value)
                    assert SENTINEL_PASSWORD not in str(away.value)

                with ThreadPoolExecutor() as pool:  # they are not asked again and again: each time takes seconds
                    pool.submit(lambda: [ask() for _ in range(50)]).result(timeout=SECONDS)
                assert watched.votes.cast(article, 7, Choice.VOTE).votes == 2, "what is connected goes on"
        until(lambda: votes_of(late, article, 8) == 3, 20)
    finally:
        dead.restart()
        replication.until_whole()


@pytest.mark.parametrize("wrong", [PASSWORD, SENTINEL_PASSWORD])
def test_a_wrong_password_is_an_unavailable_store(replication, wrong):
    with pytest.raises(StoreUnavailable) as refused:
        connect(replication.url.replace(wrong, "wrong-one"), shards=4).prepare()
    assert "wrong-one" not in str(refused.value)


def test_an_unknown_service_is_an_unavailable_store(replication):
    with pytest.raises(StoreUnavailable, match="No master found for 'other'"):
        connect(replication.url.replace("/site", "/other"), shards=4).prepare()


@pytest.mark.topology
@pytest.mark.parametrize("how", ["kill", "freeze"])
def test_another_primary_is_served_from_without_a_restart(tmp_path, clock, how):
    with Replication(tmp_path / "store") as replication:
        repository = prepared(replication, clock, timeout_seconds=0.5)
        article, earlier = post(repository, 1), replication.primary()
        idle = connect(replication.url, shards=4, clock=clock, timeout_seconds=0.5)
        assert idle.articles.get(article).votes == 1
        until(lambda: all(node.offset() == earlier.offset() for node in replication.nodes))
        getattr(earlier, how)()

        with pytest.raises(StoreUnavailable):
            repository.votes.cast(article, 7, Choice.VOTE)
        replication.until_failed_over(earlier)
        until(lambda: votes_of(repository, article, 7) == 2, 20)
        until(lambda: votes_of(idle, article, 8) == 3, 20)

        earlier.restart() if how == "kill" else earlier.thaw()
        replication.until_whole()
        assert votes_of(repository, article, 9) == 4
        assert repository.lists.get_page(Order.SCORE).articles[0].votes == 4
        assert problems(repository) == []


def test_a_server_that_hangs_stops_only_what_it_serves(replication):
    """What refuses connections for a moment after timeouts belongs to a server, not to all that sentinels name."""
    clients = make_clients(replication.url, reads_replicas=True)
    lines = [client.connection_pool.get_connection() for client in clients]
    try:
        primary, replica = [line.server for line in lines]
        assert primary[2] == replication.primary().port
        assert replica[2] in {node.port for node in replication.replicas()}
    finally:
        for client, line in zip(clients, lines, strict=True):
            client.connection_pool.release(line)
