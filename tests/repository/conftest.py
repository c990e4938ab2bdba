"""The article under test, small batches, and a counter of round trips."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from redis.connection import AbstractConnection

from articles.domain.articles import ArticleId
from articles.repository import Repository, account_deletion, ballots, members
from articles.repository.backup import reading as backup_reading
from articles.repository.moderation import left_out
from articles.repository.ranking import parameters
from articles.repository.store.clients.cluster_exchange import Exchange
from articles.repository.upkeep import clock as clock_upkeep
from tests.cast import ALICE
from tests.clock import Clock
from tests.repository.exchanges import Exchanges
from tests.repository.spread import prepared
from tests.repository.usage import use
from tests.rules import connect
from tests.store_state import REPOSITORY_DATABASE
from tests.topologies.cluster import Cluster
from tests.topologies.of_this_run import Databases


@pytest.fixture
def article(repository: Repository) -> ArticleId:
    """The id of an article that alice has just posted in the group python."""
    return repository.articles.post(ALICE, "alice", "A title", "https://example.org/a", ["python"]).id


BATCHES = (
    (account_deletion, "NAMES_PER_SCRIPT"), (ballots, "ARTICLES_PER_CHECK"),
    (backup_reading, "ARTICLES_PER_CHECK"), (backup_reading, "ENTRIES_PER_STEP"),
    (clock_upkeep, "ARTICLES_PER_STEP"), (left_out, "ARTICLES_PER_CHECK"), (left_out, "ENTRIES_PER_CHECK"),
    (members, "ENTRIES_PER_READ"), (parameters, "ARTICLES_PER_STEP"),
)  # fmt: skip
"""How much the repository handles at once, for the tests that take several steps."""


@pytest.fixture
def small_batches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the repository handle one thing at once, or as many as the test's parameter says."""
    for module, name in BATCHES:
        monkeypatch.setattr(module, name, getattr(request, "param", 1))


@pytest.fixture(scope="module")
def merged_store(store_paths: Databases) -> Iterator[Repository]:
    """A store of 4 shards for the whole module; each test empties and prepares it."""
    repository = connect(store_paths.url(REPOSITORY_DATABASE), shards=4, clock=Clock())
    yield repository
    repository.store.client.flushdb()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three primaries without replicas, for tests that leave them running."""
    with Cluster(tmp_path_factory.mktemp("cluster") / "store", replicas_of_each=0) as cluster:
        yield cluster


@pytest.fixture
def spread(cluster: Cluster, clock: Clock) -> Repository:
    """An empty repository of 16 shards on the cluster."""
    return prepared(cluster, clock)


@pytest.fixture
def exchanges(monkeypatch: pytest.MonkeyPatch) -> Exchanges:
    """What the site sends to each node."""
    return Exchanges(monkeypatch)


@dataclass
class Wire:
    """A counter of round trips to the real server: each packet waits for its answers.

    On a cluster, what goes out to all nodes before any answer is read is one round trip.
    """

    trips: int = 0
    is_open: bool = False
    packets: list[bytes] = field(default_factory=list)

    @contextmanager
    def counted(self) -> Iterator["Wire"]:
        """Start counting from zero."""
        self.trips = 0
        self.packets.clear()
        yield self


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch) -> Wire:
    """A counter on every connection. Make one call of the same kind first, to load its scripts."""
    heard, send, attempt = Wire(), AbstractConnection.send_packed_command, Exchange._attempt

    def listen(self, command, check_health=True):
        heard.trips += not heard.is_open
        heard.packets += [command] if isinstance(command, bytes) else list(command)
        return send(self, command, check_health)

    def listen_to_all(self, units, **options):
        heard.trips, heard.is_open = heard.trips + 1, True
        attempt(self, units, **options)
        heard.is_open = False

    monkeypatch.setattr(AbstractConnection, "send_packed_command", listen)
    monkeypatch.setattr(Exchange, "_attempt", listen_to_all)
    return heard


@pytest.fixture
def used(repository: Repository, clock: Clock) -> Repository:
    """A store in which something of every kind was created."""
    use(repository, clock)
    return repository
