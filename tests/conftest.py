"""What all tests share: a real store, a clock, the repository on every kind of store."""

from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from django.conf import settings

from articles.domain.rules import Rules
from articles.repository import Repository
from articles.repository.store.client import make_client
from tests.clock import Clock
from tests.rules import connect, default_rules
from voting_site.embedded import StorePaths, Supervisor

REPOSITORY_DATABASE = 2
"""Of the test server: 0 and 1 are the site's own store and cache."""

# A machine with much to do is no reason for an example to fail.
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")

BACKENDS = ("server", "server, 4 shards")


@pytest.fixture(scope="session")
def store_paths() -> Iterator[StorePaths]:
    """The embedded server of the whole test run, where the settings expect it."""
    paths = StorePaths(Path(settings.DATA_DIR))
    supervisor = Supervisor(paths, config={"appendfsync": "no"})
    supervisor.start(30)
    yield paths
    supervisor.stop()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rules() -> Rules:
    return default_rules()


@pytest.fixture
def server_url(store_paths: StorePaths) -> str:
    """URL of an empty database on the real server."""
    url = store_paths.url(REPOSITORY_DATABASE)
    make_client(url).flushdb()
    return url


@pytest.fixture(params=BACKENDS)
def repository(request: pytest.FixtureRequest, clock: Clock, rules: Rules) -> Repository:
    """An empty repository on the real server, with one shard and with four."""
    return server_repository(request, clock, rules, shards=4 if "4" in request.param else 1)


def server_repository(request: pytest.FixtureRequest, clock: Clock, rules: Rules, *, shards: int) -> Repository:
    """An empty repository on the real server."""
    found = connect(request.getfixturevalue("server_url"), shards=shards, rules=rules, clock=clock)
    found.prepare()
    return found


@pytest.fixture
def shared_dir() -> Path:
    """The folder of real data and nasty cases; the test is skipped where it is absent."""
    folder = Path(settings.SHARED_DIR)
    if not folder.is_dir():
        pytest.skip("the shared data folder is not here; set SHARED_DIR to it")
    return folder
