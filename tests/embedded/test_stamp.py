import json
import shutil

import pytest

from voting_site.embedded import StoreDirectoryError, StoreMissingError, StorePaths, StoreVersionError, stamp
from voting_site.embedded.binary import ServerVersion, find_binary, read_version

from .helpers import KEYS, answers, client

NEWER = ServerVersion("Valkey", (99, 0, 0))


def test_a_start_leaves_the_servers_name_and_version(used: StorePaths):
    fields = json.loads(used.stamp.read_text())

    assert ServerVersion(fields["name"], tuple(map(int, fields["version"].split(".")))) == read_version(
        find_binary()
    )


def test_a_failed_start_leaves_no_stamp(paths: StorePaths, supervise):
    with pytest.raises(Exception, match="ended with status 1"):
        supervise(config={"maxmemory-policy": "nonsense"})

    assert not paths.stamp.exists()


def test_a_newer_servers_files_are_refused(used: StorePaths, supervise):
    stamp.write(used.stamp, NEWER)

    with pytest.raises(StoreVersionError, match=r"written by Valkey 99\.0\.0 and the server here is Valkey"):
        supervise()

    assert stamp.read(used.stamp) == NEWER
    assert not used.socket.exists()


def test_another_servers_files_are_refused(used: StorePaths, supervise):
    stamp.write(used.stamp, ServerVersion("Redis", (6, 2, 0)))

    with pytest.raises(StoreVersionError, match="written by Redis"):
        supervise()


def test_an_older_servers_files_are_taken_over(used: StorePaths, supervise):
    stamp.write(used.stamp, ServerVersion("Valkey", (7, 2, 0)))

    supervise()

    assert stamp.read(used.stamp) == read_version(find_binary())
    with client(used) as connection:
        assert connection.dbsize() == KEYS


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"name": "Valkey", "version": "x"}', '{"name": 1, "version": 2}']
)
def test_a_stamp_that_says_nothing_is_refused(used: StorePaths, supervise, text: str):
    used.stamp.write_text(text)

    with pytest.raises(StoreDirectoryError, match="does not say which server"):
        supervise()


def test_a_store_that_lost_its_files_does_not_start_empty(used: StorePaths, supervise):
    shutil.rmtree(used.manifest.parent)

    with pytest.raises(StoreMissingError, match="has been used before"):
        supervise()


def test_a_store_that_lost_its_manifest_does_not_start_empty(used: StorePaths, supervise):
    used.manifest.unlink()
    used.stamp.unlink()

    with pytest.raises(StoreMissingError, match=r"appendonly\.aof\.manifest is missing"):
        supervise()


def test_an_emptied_store_starts_anew(used: StorePaths, supervise):
    shutil.rmtree(used.directory)

    supervise()

    assert answers(used)
