"""A backup under load, the loss of everything, and the restore."""

import shutil
import time

import pytest

from tests.chaos.stage import PATIENCE, Row, end_row

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(0)]

RESTORED_SECONDS = 60.0 * PATIENCE  # for the backup, the restore and its audit together, at 100,000 articles


def test_everything_confirmed_before_a_backup_is_in_the_restored_site(stage, tmp_path, static_files):
    site = stage.start(stage.data("large"))
    with stage.crowd(site) as crowd:
        crowd.wait_for(500)
        crowd.ledger.update()
        before = dict(crowd.ledger.votes)
        began = time.monotonic()
        made = site.manage("backup", str(tmp_path / "backups"))
        backup_seconds = time.monotonic() - began
        crowd.wait_for(50)
    assert made.returncode == 0, made.stdout + made.stderr
    site.stop()
    shutil.rmtree(site.data_dir)
    shutil.copytree(static_files, site.data_dir / "static")
    began = time.monotonic()
    restored = site.manage("restore", str(tmp_path / "backups"))
    restore_seconds = time.monotonic() - began
    assert restored.returncode == 0, restored.stdout + restored.stderr
    site = stage.start(site.data_dir, PORT=str(site.port))
    ledger = crowd.ledger
    ledger.votes, ledger.uncertain = before, {}
    fault = f"backup in {backup_seconds:.1f} s, everything deleted, restored in {restore_seconds:.1f} s"
    end_row(Row(28, fault), site, ledger)
    assert backup_seconds + restore_seconds <= RESTORED_SECONDS
