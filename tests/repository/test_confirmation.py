"""What a change waits for before the site says that it is made, on a primary with one replica."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from articles.domain.articles import Choice
from articles.domain.errors import ArticleRemoved, StoreUnavailable, StoreUnconfirmed, VotingClosed
from articles.repository import Confirmation, Repository
from tests.cast import ALICE, MODERATOR
from tests.clock import DAY, Clock
from tests.factories import post
from tests.repository.exchanges import Exchanges
from tests.repository.spread import prepared
from tests.rules import connect
from tests.store_state import problems
from tests.topologies import binaries
from tests.topologies.cluster import Cluster
from tests.topologies.node import HOST, Node
from tests.topologies.topology import OneServer
from tests.waiting import until

SECONDS = 30.0  # for which a change waits that will be confirmed; one that will not waits a tenth of a second


@dataclass
class Mirrored:
    """A primary and its replica."""

    url: str
    primary: Node
    replica: Node

    def connect(self, clock: Clock, *, waits: float = SECONDS, **options) -> Repository:
        confirmation = Confirmation(**{"replicas": 1, "timeout_seconds": waits} | options)
        return connect(self.url, clock=clock, confirmation=confirmation)


def started(folder: Path, binary: Path | None) -> Iterator[Mirrored]:
    with OneServer(folder / "store", binary, settings={"appendonly": "yes", "appendfsync": "always"}) as server:
        primary, url = server.node, server.url
        replica = server.start_node(replicaof=f"{HOST} {primary.port}")
        until(replica.is_in_step, told=replica.log)
        yield Mirrored(url, primary, replica)


@pytest.fixture(scope="module", params=["redis", "valkey"])
def mirrored(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirrored]:
    binary = binaries.redis() if request.param == "redis" else binaries.valkey()
    if binary is None:
        pytest.skip(binaries.REDIS_MISSING)
    yield from started(tmp_path_factory.mktemp("mirrored"), binary)


@pytest.fixture
def confirming(mirrored: Mirrored, clock: Clock) -> Repository:
    """An empty repository whose changes wait for the replica."""
    repository = mirrored.connect(clock)
    repository.store.client.flushdb()
    repository.prepare()
    return repository


def test_a_vote_waits_in_its_own_exchange(mirrored, confirming, exchanges):
    article = post(confirming, 1)
    confirming.votes.cast(article, 7, Choice.VOTE)

    with exchanges.counted():
        assert confirming.votes.cast(article, 8, Choice.VOTE).votes == 3
    assert exchanges.by_port == {mirrored.primary.port: 1}
    assert exchanges.containing(b"EVALSHA") == exchanges.containing(b"WAIT") == 1
    assert mirrored.replica.client.hget("article:1", "votes") == "3"
    assert problems(confirming) == []


def test_a_view_and_a_page_wait_for_nothing(mirrored, confirming, exchanges):
    article = post(confirming, 1)
    with exchanges.counted():
        confirming.articles.get(article)
        confirming.members.save(7, article, wanted=True)
    assert exchanges.containing(b"WAIT") == 0


def test_a_vote_is_unconfirmed_however_often_until_the_replica_has_it(mirrored, confirming, clock):
    article = post(confirming, 1)
    with mirrored.replica.frozen():
        for hasty in (first := mirrored.connect(clock, waits=0.1), first, mirrored.connect(clock, waits=0.1)):
            with pytest.raises(StoreUnconfirmed, match=r"^after 0\.1 s the change is on 0 of 1 replicas$"):
                hasty.votes.cast(article, 7, Choice.VOTE)
        assert confirming.articles.get(article).votes == 2, "it is made"

    until(mirrored.replica.is_in_step)
    assert confirming.votes.cast(article, 7, Choice.VOTE).votes == 2
    assert mirrored.replica.client.hget("article:1", "votes") == "2"
    assert problems(confirming) == []


def test_a_post_is_unconfirmed_however_often_until_the_replica_has_it(mirrored, confirming, clock):
    post(confirming, 1)
    with mirrored.replica.frozen():
        for hasty in (first := mirrored.connect(clock, waits=0.1), first, mirrored.connect(clock, waits=0.1)):
            with pytest.raises(StoreUnconfirmed):
                post(hasty, 2)

    until(mirrored.replica.is_in_step)
    posted = confirming.articles.post(ALICE, "alice", "Article 2", "https://example.org/2")
    assert (posted.id, posted.is_new) == (2, False)
    assert mirrored.replica.client.exists("article:2")
    assert len(confirming.lists.get_page("time").articles) == 2
    assert problems(confirming) == []


def test_an_id_that_another_process_has_used_is_confirmed(mirrored, confirming, clock, monkeypatch):
    """Two members post a link at the same moment: the second finds the article as it publishes its own."""
    hasty = mirrored.connect(clock, waits=0.1)
    post(confirming, 1)
    monkeypatch.setattr(hasty.articles, "_exists", lambda _holder: False)

    with mirrored.replica.frozen(), pytest.raises(StoreUnconfirmed):
        post(hasty, 1)
    until(mirrored.replica.is_in_step)
    assert post(confirming, 1) == 1


def test_a_refusal_waits_for_no_replica(mirrored, confirming, clock):
    removed, closed = post(confirming, 1), post(confirming, 2)
    confirming.articles.remove(removed, MODERATOR, "Spam")
    hasty = mirrored.connect(clock, waits=0.1)
    with mirrored.replica.frozen():
        with pytest.raises(ArticleRemoved):
            hasty.votes.cast(removed, 7, Choice.VOTE)
        clock.advance(8 * DAY)
        with pytest.raises(VotingClosed):
            hasty.votes.cast(closed, 7, Choice.VOTE)
    until(mirrored.replica.is_in_step)


def test_what_a_moderator_changes_waits_too(mirrored, confirming, clock):
    article = post(confirming, 1)
    confirming.groups.create("python", "Python")
    hasty = mirrored.connect(clock, waits=0.1)
    with mirrored.replica.frozen():
        for change in (
            lambda: hasty.articles.edit(article, MODERATOR, "New", "https://example.org/1", moderator=True),
            lambda: hasty.articles.remove(article, MODERATOR, "Spam"),
            lambda: hasty.articles.restore(article, MODERATOR, "No spam"),
        ):
            with pytest.raises(StoreUnconfirmed):
                change()
    until(mirrored.replica.is_in_step)
    assert problems(confirming) == []


def test_a_primary_that_became_a_replica_changes_nothing(mirrored, confirming):
    article = post(confirming, 1)
    mirrored.primary.run("REPLICAOF", HOST, 1)
    try:
        with pytest.raises(StoreUnavailable):
            confirming.votes.cast(article, 7, Choice.VOTE)
    finally:
        mirrored.primary.run("REPLICAOF", "NO", "ONE")
    until(mirrored.replica.is_in_step)
    assert confirming.votes.cast(article, 7, Choice.VOTE).votes == 2


# On a cluster


def test_on_a_cluster_a_vote_waits_for_the_replica_of_its_node(cluster, clock):
    """This one has no replicas: every change is unconfirmed, and made."""
    prepared(cluster, clock)
    hasty = connect(cluster.url, shards=16, clock=clock, confirmation=Confirmation(1, timeout_seconds=0.1))
    for number in range(3):
        with pytest.raises(StoreUnconfirmed, match="on 0 of 1 replicas"):
            post(hasty, number)
    with pytest.MonkeyPatch.context() as monkeypatch:
        exchanges = Exchanges(monkeypatch)
        with exchanges.counted(), pytest.raises(StoreUnconfirmed):
            hasty.votes.cast(1, 7, Choice.VOTE)
        assert list(exchanges.by_port.values()) == [1]
    assert hasty.articles.get(1).votes == 2


@pytest.mark.topology
def test_on_a_cluster_with_replicas_a_vote_is_on_one(tmp_path, clock):
    with Cluster(tmp_path / "store") as replicated:
        confirmation = Confirmation(1, timeout_seconds=SECONDS)
        repository = prepared(replicated, clock, confirmation=confirmation)
        articles = [post(repository, number) for number in range(8)]
        for article in articles:
            assert repository.votes.cast(article, 7, Choice.VOTE).votes == 2
            key = repository.store.shards.of(article).article(article)
            (replica,) = replicated.replicas(replicated.owner_of(key))
            with replica.client.pipeline(transaction=False) as pipe:
                assert pipe.execute_command("READONLY").hget(key, "votes").execute() == [True, "2"]
