"""A bit that flips in the append-only file: the server refuses the file, or the audit runs to its end."""

import random
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from tests.clock import Clock
from tests.repository.usage import use
from tests.rules import connect
from tests.store_state import problems
from voting_site.embedded import StoreCorruptError, StorePaths, open_store

pytestmark = pytest.mark.hostile

SEEDS = range(12)


@pytest.fixture(scope="module")
def private(tmp_path_factory) -> Path:
    """The data directory of a stopped store that was in full use."""
    data_dir, clock = tmp_path_factory.mktemp("filled"), Clock()
    with open_store(data_dir, config={"appendfsync": "no"}) as url:
        repository = connect(url, clock=clock)
        repository.prepare()
        use(repository, clock)
        repository.store.client.connection_pool.disconnect()
    return data_dir


@pytest.mark.parametrize("seed", SEEDS)
def test_a_store_with_a_flipped_bit_is_refused_or_audited_to_the_end(private, tmp_path, seed):
    paths = StorePaths(tmp_path / "var")
    shutil.copytree(private, paths.data_dir)
    journal = next(paths.manifest.parent.glob("*.incr.aof"))
    flip_a_bit(journal, random.Random(seed))

    with suppress(StoreCorruptError), open_store(paths.data_dir, config={"appendfsync": "no"}) as url:
        repository = connect(url, clock=Clock())
        assert isinstance(problems(repository), list)
        repository.store.client.connection_pool.disconnect()


def flip_a_bit(file: Path, rng: random.Random) -> None:
    content = bytearray(file.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    file.write_bytes(content)
