import os
import shutil
from pathlib import Path

import pytest

from tests.damage import damage
from voting_site.embedded import EmbeddedStoreError, StoreCorruptError, StorePaths, StoreStartError
from voting_site.embedded.lock import Lock

from .helpers import KEYS, client


@pytest.fixture
def journal(used: StorePaths) -> Path:
    """The append-only file, a sequence of SET commands."""
    return next(used.manifest.parent.glob("*.incr.aof"))


@pytest.fixture
def base(rewritten: Path, paths: StorePaths) -> Path:
    """The base file written by a rewrite."""
    shutil.copytree(rewritten, paths.data_dir)
    return next(paths.manifest.parent.glob("*.base.rdb"))


@pytest.mark.parametrize("cut", [1, 2, 20, 700, 2000])
def test_a_truncated_file_is_loaded_up_to_its_last_complete_command(
    journal: Path, paths: StorePaths, supervise, caplog, cut: int
):
    size = journal.stat().st_size - cut
    os.truncate(journal, size)
    whole = journal.read_bytes().count(b"*3\r\n") - 1

    supervise()

    with client(paths) as connection:
        found = {int(key.partition(":")[2]) for key in connection.scan_iter()}
    assert found == set(range(len(found)))
    assert len(found) in {whole, whole + 1}
    assert len(found) < KEYS
    assert "was incomplete and is dropped: !!! Truncating the AOF" in caplog.text


def test_a_file_damaged_in_the_middle_is_refused(journal: Path, paths: StorePaths, supervise):
    damage(journal)
    before = journal.read_bytes()

    with pytest.raises(StoreCorruptError) as refused:
        supervise()

    assert f"The store in {paths.directory} is damaged" in str(refused.value)
    assert "Bad file format reading the append only file" in str(refused.value)
    assert "restore a backup" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert journal.read_bytes() == before


def test_a_command_without_its_length_is_named_as_damage(journal: Path, supervise):
    """The server then says "Unrecoverable error reading", as if the disk could not be read."""
    raw = journal.read_bytes()
    at = raw.index(b"\r\n*3\r\n", len(raw) // 2) + 3
    journal.write_bytes(raw[:at] + b"\x00" + raw[at + 1 :])

    with pytest.raises(StoreCorruptError, match="Unrecoverable error reading the append only file"):
        supervise()


def test_a_refused_start_leaves_nothing_behind(journal: Path, paths: StorePaths, supervise):
    damage(journal)
    supervisor = supervise(start=False)

    with pytest.raises(StoreCorruptError):
        supervisor.start(60)

    assert not supervisor.owns
    assert not paths.socket.exists()
    lock = Lock(paths.lock)
    assert lock.acquire()
    lock.release()


def test_an_error_describes_the_current_start(journal: Path, supervise):
    whole = journal.read_bytes()
    damage(journal)
    with pytest.raises(StoreCorruptError):
        supervise()
    journal.write_bytes(whole)

    with pytest.raises(StoreStartError, match="maxmemory-policy"):
        supervise(config={"maxmemory-policy": "nonsense"})


def test_a_damaged_base_is_refused(base: Path, supervise):
    damage(base)

    with pytest.raises(StoreCorruptError, match=r"the server says: .*RDB"):
        supervise()


def test_a_missing_base_is_refused(base: Path, supervise):
    base.unlink()

    with pytest.raises(StoreCorruptError, match="Unable to obtain the AOF file"):
        supervise()


def test_a_missing_journal_is_refused(journal: Path, supervise):
    journal.unlink()

    with pytest.raises(EmbeddedStoreError):
        supervise()


def test_a_damaged_manifest_is_refused(journal: Path, paths: StorePaths, supervise):
    paths.manifest.write_text("nonsense\n")

    with pytest.raises(StoreCorruptError, match="AOF manifest"):
        supervise()
