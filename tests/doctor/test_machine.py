"""Space on the disks."""

from tests.doctor.examining import brief, levels
from tests.small_disk import fill


def test_a_small_disk_is_a_warning_and_a_full_one_an_error(settings, disk):
    settings.DATA_DIR = disk
    assert levels("disk", "space") == ["warning"]

    fill(disk)

    ((level, text),) = brief("disk", "space")
    assert level == "error"
    assert text.startswith("The disk of `DATA_DIR` is full")


def test_the_disk_of_the_backups_is_examined_too(settings, disk):
    settings.BACKUP_DIR = disk / "not" / "yet"

    (_data, (level, text)) = brief("disk", "space")

    assert level == "warning"
    assert text.startswith("The disk of `BACKUP_DIR` is nearly full")
