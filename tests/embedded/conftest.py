"""Real servers in temporary directories; every server that a test starts is stopped after it."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from voting_site.embedded import StorePaths, Supervisor, open_store

from .helpers import KEYS, fill, rewrite


@pytest.fixture
def paths(tmp_path: Path) -> StorePaths:
    """An unused store; its directory does not exist yet."""
    return StorePaths(tmp_path / "var")


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of a filled and stopped store; copy it before use."""
    paths = StorePaths(tmp_path_factory.mktemp("filled"))
    with open_store(paths.data_dir):
        fill(paths, KEYS)
    return paths.data_dir


@pytest.fixture(scope="session")
def rewritten(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same data directory with all data in a base file."""
    paths = StorePaths(tmp_path_factory.mktemp("rewritten") / "var")
    shutil.copytree(filled, paths.data_dir)
    with open_store(paths.data_dir):
        rewrite(paths)
    return paths.data_dir


@pytest.fixture
def used(filled: Path, paths: StorePaths) -> StorePaths:
    """A stopped store that holds `KEYS` keys, each written by a separate command."""
    shutil.copytree(filled, paths.data_dir)
    return paths


@pytest.fixture
def supervise(paths: StorePaths) -> Iterator[Callable[..., Supervisor]]:
    """A function that creates a supervisor of the store and starts it by default."""
    made: list[Supervisor] = []

    def make(where: StorePaths = paths, *, start: bool = True, **options) -> Supervisor:
        supervisor = Supervisor(where, **options)
        made.append(supervisor)
        if start:
            supervisor.start(60)
        return supervisor

    yield make
    for supervisor in made:
        supervisor.stop()
