import shutil
from contextlib import contextmanager

import pytest

from tests.topologies import binaries
from voting_site.embedded import EmbeddedStoreError, StoreDirectoryError, StorePaths, stamp
from voting_site.embedded.binary import ServerVersion, find_binary, read_version

from .helpers import KEYS, answers, client, fill

pytestmark = pytest.mark.deep

NEWER = ServerVersion("Valkey", (99, 0, 0))


def test_files_of_a_newer_server_are_refused(used: StorePaths, supervise):
    stamp.write(used.stamp, NEWER)

    with pytest.raises(EmbeddedStoreError, match=r"written by Valkey 99\.0\.0, but the installed server is"):
        supervise()

    assert stamp.read(used.stamp) == NEWER
    assert not used.socket.exists()


def test_files_of_another_server_are_refused(used: StorePaths, supervise):
    stamp.write(used.stamp, ServerVersion("Redis", (7, 4, 0)))

    with pytest.raises(EmbeddedStoreError, match="written by Redis"):
        supervise()


def test_files_of_an_older_server_are_accepted(used: StorePaths, supervise):
    stamp.write(used.stamp, ServerVersion("Valkey", (7, 2, 0)))

    supervise()

    assert stamp.read(used.stamp) == read_version(find_binary())
    with client(used) as connection:
        assert connection.dbsize() == KEYS


def test_a_store_of_redis_is_continued_by_valkey_but_not_the_other_way(paths: StorePaths, supervise):
    server = binaries.redis()
    if server is None or read_version(server).number >= (7, 4):
        pytest.skip("no Redis before 7.4 is installed")
    first = supervise(binary=server)
    fill(paths, KEYS)
    first.stop()
    assert stamp.read(paths.stamp) == read_version(server)

    second = supervise()
    with client(paths) as connection:
        assert connection.dbsize() == KEYS
    second.stop()

    with pytest.raises(EmbeddedStoreError, match=r"the installed server is Redis .* STORE_SERVER"):
        supervise(binary=server)


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"name": "Valkey", "version": "x"}', '{"name": 1, "version": 2}']
)
def test_an_unreadable_stamp_is_refused(used: StorePaths, supervise, text: str):
    used.stamp.write_text(text)

    with pytest.raises(StoreDirectoryError, match="does not say which server"):
        supervise()


def test_a_store_without_its_files_does_not_start_empty(used: StorePaths, supervise):
    shutil.rmtree(used.manifest.parent)

    with pytest.raises(EmbeddedStoreError, match="has been used before"):
        supervise()


def test_a_store_without_its_manifest_does_not_start_empty(used: StorePaths, supervise):
    used.manifest.unlink()
    used.stamp.unlink()

    with pytest.raises(EmbeddedStoreError, match=r"appendonly\.aof\.manifest is missing"):
        supervise()


@pytest.mark.parametrize("step", ["the directory", "the base file", "the journal", "a draft of the manifest"])
def test_a_first_start_interrupted_before_the_manifest_is_repeated(paths: StorePaths, supervise, step: str):
    supervise().stop()  # leaves the files of an empty store in the order in which a first start writes them
    folder, paths_left = (
        paths.manifest.parent,
        {
            "the directory": [],
            "the base file": ["*.base.rdb"],
            "the journal": ["*.base.rdb", "*.incr.aof"],
            "a draft of the manifest": ["*.base.rdb", "*.incr.aof", "temp-appendonly.aof.manifest"],
        }[step],
    )
    paths.manifest.rename(folder / "temp-appendonly.aof.manifest")
    paths.stamp.unlink()
    for file in folder.iterdir():
        if not any(file.match(kept) for kept in paths_left):
            file.unlink()

    supervise()

    assert answers(paths)
    assert paths.manifest.exists()


@pytest.mark.parametrize("left", ["*.base.rdb", "*.incr.aof"])
def test_data_files_without_a_manifest_are_refused(rewritten, paths: StorePaths, supervise, left: str):
    shutil.copytree(rewritten, paths.data_dir)
    with supervise_once(supervise, paths):
        pass
    paths.manifest.unlink()
    paths.stamp.unlink()
    for file in paths.manifest.parent.iterdir():
        if not file.match(left):
            file.unlink()

    with pytest.raises(EmbeddedStoreError, match="is missing"):
        supervise()


@contextmanager
def supervise_once(supervise, paths: StorePaths):
    """Supervise the store once, and write to the journal."""
    supervisor = supervise()
    with client(paths) as connection:
        connection.set("more", "1")
        yield
    supervisor.stop()


@pytest.mark.parametrize("cut", [8, 20, -1])
def test_an_incomplete_base_file_is_refused(paths: StorePaths, supervise, cut: int):
    supervise().stop()
    base = next(paths.manifest.parent.glob("*.base.rdb"))
    base.write_bytes(base.read_bytes()[:cut])
    paths.manifest.unlink()
    paths.stamp.unlink()

    with pytest.raises(EmbeddedStoreError, match="is missing"):
        supervise()


def test_an_emptied_store_starts_as_a_new_store(used: StorePaths, supervise):
    shutil.rmtree(used.directory)

    supervise()

    assert answers(used)
