"""The age of the newest backup."""

from datetime import UTC, datetime, timedelta

import pytest

from articles.backup.files import ACCOUNTS, MANIFEST, STORE, File, Manifest, write_manifest
from tests.doctor.examining import brief, levels


@pytest.fixture
def backup(settings, tmp_path):
    """A function that adds a backup to BACKUP_DIR."""
    settings.BACKUP_DIR = tmp_path

    def add(hours_ago):
        at = datetime.now(UTC) - timedelta(hours=hours_ago)
        folder = tmp_path / at.strftime("%Y-%m-%dT%H-%M-%SZ")
        folder.mkdir()
        files = dict.fromkeys((STORE, ACCOUNTS), File(1, "0" * 64))
        write_manifest(
            folder, Manifest("id", "site", at.isoformat(), "0.2.0", 6, 1, "Valkey 9", "SQLite", {}, {}, files)
        )
        return folder

    return add


def test_without_a_directory_nothing_is_known(settings):
    settings.BACKUP_DIR = None

    assert levels("backups", "age") == ["note"]


def test_a_directory_without_a_complete_backup_is_a_warning(backup, tmp_path):
    (tmp_path / ".partial-2026-01-31T12-00-00Z").mkdir()
    (tmp_path / "a-file").touch()

    assert brief("backups", "age") == [("warning", f"There is no backup in `{tmp_path}`.")]


def test_the_newest_backup_counts(backup):
    backup(500)
    backup(47)

    assert levels("backups", "age") == ["fine"]


def test_an_old_backup_is_a_warning(backup):
    backup(49)

    ((level, text),) = brief("backups", "age")

    assert level == "warning"
    assert text.replace("\xa0", " ") == "The newest backup is 2 d 1 h old."


def test_a_damaged_backup_is_an_error(backup):
    (backup(1) / MANIFEST).write_text("{}")

    assert brief("backups", "age") == [("error", "The newest backup is damaged.")]
