"""The article under test, and a counter of round trips."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest
from redis.connection import UnixDomainSocketConnection

from articles.domain.articles import ArticleId
from articles.repository import Repository
from tests.cast import ALICE
from tests.clock import Clock
from tests.rules import connect
from tests.store_state import SHARDED_DATABASE
from voting_site.embedded import StorePaths


@pytest.fixture
def article(repository: Repository) -> ArticleId:
    """The id of an article that alice has just posted in the group python."""
    return repository.articles.post(ALICE, "alice", "A title", "https://example.org/a", ["python"]).id


@pytest.fixture(scope="module")
def merged_store(store_paths: StorePaths) -> Iterator[Repository]:
    """A store of 4 shards for the whole module; each test empties and prepares it."""
    repository = connect(store_paths.url(SHARDED_DATABASE), shards=4, clock=Clock())
    yield repository
    repository.store.client.flushdb()


@dataclass
class Wire:
    """A counter of round trips to the real server: each packet waits for its answers."""

    trips: int = 0
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
    heard, send = Wire(), UnixDomainSocketConnection.send_packed_command

    def listen(self, command, check_health=True):
        heard.trips += 1
        heard.packets += [command] if isinstance(command, bytes) else list(command)
        return send(self, command, check_health)

    monkeypatch.setattr(UnixDomainSocketConnection, "send_packed_command", listen)
    return heard
