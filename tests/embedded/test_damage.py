import os
import shutil
from pathlib import Path

import pytest

from tests.damage import damage
from voting_site.embedded import EmbeddedStoreError, StoreCorruptError, StorePaths
from voting_site.embedded.lock import Lock

from .helpers import KEYS, client

pytestmark = pytest.mark.deep


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
def test_a_file_is_loaded_up_to_its_last_command(journal: Path, paths: StorePaths, supervise, caplog, cut: int):
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


HALF = b"*3\r\n$3\r\nSET\r\n$6\r\nkey:-1\r\n$100\r\nhalf"
WITHOUT_EXEC = b"*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nSET\r\n$6\r\nkey:-1\r\n$1\r\nv\r\n"


@pytest.mark.parametrize(
    ("begun", "nuls"),
    [
        *((b"", nuls) for nuls in (1, 4096, 65_536, 3_000_000)),
        *((begun, 4096) for begun in (HALF, HALF[:1], WITHOUT_EXEC)),
        (HALF, 1),
    ],
)
def test_nul_bytes_after_the_last_whole_command_are_dropped(
    journal: Path, paths: StorePaths, supervise, caplog, begun: bytes, nuls: int
):
    whole = journal.read_bytes()
    journal.write_bytes(whole + begun + b"\0" * nuls)

    supervise().stop()

    assert journal.read_bytes() == whole
    assert f"is dropped: {journal.name} ended in NUL bytes ({nuls:,})" in caplog.text
    assert len(caplog.records) - len([one for one in caplog.records if one.levelname == "INFO"]) == 1 + bool(begun)
    caplog.clear()
    supervise()
    with client(paths) as connection:
        assert connection.dbsize() == KEYS
        assert connection.set("key:-1", "v")
    assert "dropped" not in caplog.text


def test_a_journal_of_nothing_but_nul_bytes_leaves_what_was_rewritten(base: Path, paths: StorePaths, supervise):
    next(paths.manifest.parent.glob("*.incr.aof")).write_bytes(b"\0" * 4096)

    supervise()

    with client(paths) as connection:
        assert connection.dbsize() == KEYS


@pytest.mark.parametrize("after", [b"", b"nonsense", HALF], ids=["in the middle", "garbage", "half a command"])
def test_nul_bytes_before_anything_else_are_refused(journal: Path, supervise, after: bytes):
    whole = journal.read_bytes()
    hole = len(whole) if after else len(whole) // 2
    damaged = whole[:hole] + b"\0" * 64 + (after or whole[hole + 64 :])
    journal.write_bytes(damaged)

    with pytest.raises(StoreCorruptError) as refused:
        supervise()

    assert "manage.py restore" in str(refused.value)
    assert "check-aof" not in str(refused.value), "the wheel has no such tool"
    assert journal.read_bytes() == damaged


FORMS_OF_A_MANIFEST = {
    "empty": lambda text: b"",
    "NULs": lambda text: b"\0" * len(text),
    "NULs at its end": lambda text: text + b"\0" * 100,
    "cut": lambda text: text[:-10],
    "without its last line": lambda text: text.splitlines(keepends=True)[0],
    "cut and filled": lambda text: text[:7] + b"\0" * (len(text) - 7),
}


@pytest.mark.parametrize("form", FORMS_OF_A_MANIFEST)
def test_a_manifest_that_is_empty_or_cut_is_written_again(used: StorePaths, supervise, caplog, form: str):
    """Without its last line, a server would start without what was written since the last rewrite."""
    whole = used.manifest.read_bytes()
    used.manifest.write_bytes(FORMS_OF_A_MANIFEST[form](whole))

    supervise()

    with client(used) as connection:
        assert connection.dbsize() == KEYS
    assert used.manifest.read_bytes() == whole
    assert caplog.text.count("was empty or cut") == 1


@pytest.mark.parametrize("form", ["empty", "without its last line"])
def test_a_cut_manifest_of_files_that_may_be_out_of_use_is_refused(used: StorePaths, supervise, form: str):
    journal = next(used.manifest.parent.glob("*.incr.aof"))
    shutil.copy(journal, journal.with_name("appendonly.aof.2.incr.aof"))
    before = FORMS_OF_A_MANIFEST[form](used.manifest.read_bytes())
    used.manifest.write_bytes(before)

    with pytest.raises(StoreCorruptError, match="AOF manifest does not list"):
        supervise()
    assert used.manifest.read_bytes() == before


def test_what_a_rewrite_that_died_left_is_deleted(used: StorePaths, supervise):
    left = [
        used.directory / "temp-rewriteaof-bg-77.aof",
        used.directory / "temp-78.rdb",
        used.manifest.with_name("temp-appendonly.aof.manifest"),
    ]
    for file in left:
        file.write_bytes(b"half")

    supervise()

    assert not [file for file in left if file.exists()]


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


def test_a_missing_journal_is_refused(journal: Path, supervise):
    journal.unlink()

    with pytest.raises(EmbeddedStoreError):
        supervise()


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda base, _manifest: os.truncate(base, base.stat().st_size - 5), r"manage\.py restore"),
        (lambda base, _manifest: base.unlink(), "Unable to obtain the AOF file"),
        (lambda _base, manifest: manifest.write_text("nonsense\n"), "AOF manifest"),
    ],
    ids=["cut", "missing", "without a manifest"],
)
def test_a_base_that_cannot_be_read_is_refused(base: Path, paths: StorePaths, supervise, spoil, told: str):
    spoil(base, paths.manifest)

    with pytest.raises(StoreCorruptError, match=told):
        supervise()
