"""Space on the disks, and memory of the web server."""

import os
import sys

import pytest

from articles.doctor import machine
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


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what a process takes")
def test_the_memory_of_each_process_of_the_web_server_is_examined(settings, tmp_path, monkeypatch):
    settings.METRICS_FINDER = "tests.doctor.test_machine.folder"
    monkeypatch.setattr(sys.modules[__name__], "folder", lambda: tmp_path, raising=False)
    assert levels("memory", "web server") == [], "none runs here"
    (tmp_path / "0.lock").write_text(str(os.getpid()))
    (tmp_path / "1.lock").write_text("")
    monkeypatch.setattr(machine, "_MUCH_MEMORY", 10**12)
    assert levels("memory", "web server") == ["fine"]

    monkeypatch.setattr(machine, "_MUCH_MEMORY", 1_000_000)

    ((level, text),) = brief("memory", "web server")
    assert level == "warning"
    assert text.startswith("A process of the web server takes ")
