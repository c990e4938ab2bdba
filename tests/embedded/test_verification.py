"""Damage on the disk is found by comparing the append-only files with what they held before."""

from pathlib import Path

import pytest

from voting_site.embedded import StorePaths, append_only
from voting_site.embedded.append_only import PASS_EVERY, verify

NOW = 1_700_000_000.0
BASE, JOURNAL = "appendonly.aof.1.base.rdb", "appendonly.aof.1.incr.aof"


@pytest.fixture
def files(paths: StorePaths, monkeypatch) -> Path:
    """The folder of the append-only files, of which all but the last blocks are full."""
    monkeypatch.setattr(append_only, "_BLOCK", 100)
    folder = paths.manifest.parent
    folder.mkdir(parents=True)
    (folder / BASE).write_bytes(bytes(range(250)))
    (folder / JOURNAL).write_bytes(b"j" * 330)
    verify(paths, NOW)
    return folder


def flip(file: Path, at: int) -> None:
    content = bytearray(file.read_bytes())
    content[at] ^= 4
    file.write_bytes(content)


def damage_found(paths: StorePaths, passes: int = 1) -> str:
    return verify(paths, NOW + passes * PASS_EVERY)[1]


@pytest.mark.parametrize(("name", "at"), [(BASE, 0), (BASE, 249), (JOURNAL, 150), (JOURNAL, 329)])
def test_a_changed_byte_is_found_in_every_block(paths, files, name, at):
    flip(files / name, at)

    found = damage_found(paths)

    assert f"{name} from byte {at // 100 * 100} on" in found
    assert "restore a backup" in found
    assert verify(paths, NOW + PASS_EVERY + 1)[1] == found, "named until the file is replaced"
    assert damage_found(paths, 2) == found


def test_appended_data_is_no_damage_and_is_checked_from_then_on(paths, files):
    with (files / JOURNAL).open("ab") as journal:
        journal.write(b"k" * 200)
    assert damage_found(paths) == ""

    flip(files / JOURNAL, 529)

    assert f"{JOURNAL} from byte 500 on" in damage_found(paths, 2)


def test_a_rewrite_is_no_damage_and_ends_the_report_of_one(paths, files):
    flip(files / BASE, 7)
    assert damage_found(paths)
    (files / BASE).unlink()
    (files / BASE.replace(".1.", ".2.")).write_bytes(b"new" * 100)

    assert damage_found(paths, 2) == ""


def test_a_file_that_a_rewrite_deletes_during_the_pass_is_left_out(paths, files):
    (files / BASE).unlink()
    (files / BASE).symlink_to(files / "gone")  # it is listed, and cannot be opened
    flip(files / JOURNAL, 7)

    found = damage_found(paths)

    assert JOURNAL in found
    assert BASE not in found


def test_a_pass_is_due_only_after_some_hours(paths, files):
    flip(files / BASE, 7)

    assert verify(paths, NOW + PASS_EVERY - 1) == ("", "")
    assert verify(paths, NOW - 1)[1], "the clock was set back"


def test_an_interrupted_pass_is_resumed_where_it_stopped(paths, files):
    flip(files / JOURNAL, 329)
    at = NOW + PASS_EVERY

    runs = [verify(paths, at + number, bytes_at_once=100) for number in range(8)]

    assert runs[0] == (f"checked up to block 1 of {BASE}", "")
    assert ("2 files checked", runs[-1][1]) in runs
    assert f"{JOURNAL} from byte 300 on" in runs[-1][1]


@pytest.mark.parametrize("text", [None, "", "[]", '{"blocks": {"a": 1}}', '{"blocks": {}, "damaged": 3}'])
def test_a_missing_or_damaged_record_starts_again(paths, files, text):
    flip(files / BASE, 7)
    paths.verification.unlink()
    if text is not None:
        paths.verification.write_text(text)

    assert verify(paths, NOW + 1) == ("2 files checked", "")
    flip(files / BASE, 7)
    assert damage_found(paths, 2)
