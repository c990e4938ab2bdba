"""The disk is slow, full or damaged, or loses what was not synced, while members vote and readers read."""

import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from tests.chaos.slow_disk import SlowDisk
from tests.chaos.stage import Row, end_row, kill, scaled
from tests.damage import damage
from tests.site_process import DEADLINE, store_of
from tests.small_disk import fill, mounted
from tests.store_state import is_rewriting_file
from tests.waiting import until
from tests.web_processes import store_of as store_process
from voting_site.embedded import StorePaths

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(0)]

CUTS, REWRITES = scaled(200, 10), scaled(5, 2)


@pytest.fixture
def slow_disk(tmp_path):
    return SlowDisk(tmp_path / "slow_disk")


def test_power_failures_of_a_slow_disk_lose_no_vote(stage, slow_disk):
    """Every fsync takes 3 s; with the power goes whatever was not synced. Some voters wait for the store."""
    site = stage.start(stage.data(), **slow_disk.environment)
    url = StorePaths(site.data_dir).url(0)
    http, patient = stage.plan(site), stage.plan(site, voters=0, readers=0, direct_voters=16, store_url=url)
    half = len(http.members) // 2
    http.members, patient.members, patient.store_timeout = http.members[:half], patient.members[half:], 60.0
    recoveries, lost_bytes = [], 0
    with stage.crowd(site, http, patient) as crowd:
        for _ in range(scaled(5, 2)):
            slow_disk.delay(3000)
            crowd.wait_for(10, "direct")
            os.kill(site.process.pid, signal.SIGSTOP)  # it restarts the store at once
            killed_at = kill(pid := store_process(site))
            until(lambda pid=pid: not is_running(pid))
            lost_bytes += slow_disk.lose_power()
            slow_disk.delay(0)
            os.kill(site.process.pid, signal.SIGCONT)
            recoveries.append(crowd.recovery(killed_at))
    fault = f"kill -9 with fsyncs of 3 s and loss of what was not synced ({lost_bytes:,} bytes)"
    end_row(Row(2, fault, recovery=max(recoveries)), site, crowd.ledger)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


def test_a_damaged_file_is_refused_with_the_way_out_and_its_backup_passes_the_audit(stage, tmp_path):
    site = stage.start(stage.data())
    paths = StorePaths(site.data_dir)
    with stage.crowd(site) as crowd:
        crowd.wait_for(100)
    assert site.stop() == 0
    shutil.copytree(paths.directory, tmp_path / "backup")
    journal = next(paths.manifest.parent.glob("*.incr.aof"))
    damage(journal)
    damaged = journal.read_bytes()

    refused = stage.begin(site.data_dir, PORT=str(site.port))

    assert refused.process.wait(DEADLINE) == 1
    assert "is damaged and cannot be loaded" in refused.told()
    assert "restore a backup" in refused.told()
    assert "Traceback" not in refused.told()
    assert journal.read_bytes() == damaged
    shutil.rmtree(paths.directory)
    shutil.copytree(tmp_path / "backup", paths.directory)
    site = stage.start(site.data_dir, PORT=str(site.port))
    end_row(Row(6, "append-only file damaged in the middle; backup restored"), site, crowd.ledger)


def test_a_full_disk_loses_no_vote_and_is_survived(stage, tmp_path):
    with mounted(tmp_path / "disk", 60) as disk:
        site = stage.start(stage.data(parent=disk))
        with stage.crowd(site) as crowd:
            hog = fill(disk)
            began = time.monotonic()
            until(lambda: crowd.ledger.of("vote", since=began) and refused(crowd, began), DEADLINE, site.told)
            crowd.wait_past(time.monotonic() + scaled(8, 2))
            assert site.get("/readyz")[0] == 503
            assert site.get("/healthz")[0] == 200
            hog.unlink()
            recovery = crowd.recovery(time.monotonic())
        until(lambda: "has space again" in site.told(), DEADLINE, site.told)
        end_row(Row(9, "disk full", recovery=recovery), site, crowd.ledger)
        stage.end()


def refused(crowd, since: float) -> bool:
    return crowd.ledger.of("vote", since=since)[-1].status == "503"


def test_a_store_killed_while_it_rewrites_its_file_is_intact(stage):
    site = stage.start(stage.data("large"))
    recoveries = []
    with stage.crowd(site) as crowd:
        for number in range(REWRITES):
            store = store_of(site)
            store.store.client.config_set("rdb-key-save-delay", 10 * (number + 1))  # microseconds
            store.store.client.bgrewriteaof()
            until(lambda store=store: is_rewriting_file(store))
            crowd.wait_for(20 * (number + 1))
            assert is_rewriting_file(store)
            recoveries.append(crowd.recovery(kill(store_process(site))))
    row = Row(10, f"kill -9 during a rewrite of the append-only file, {REWRITES} times", recovery=max(recoveries))
    end_row(row, site, crowd.ledger)


def test_a_full_log_disk_does_not_affect_the_site(stage):
    """Standard output and error go to a full disk."""
    data_dir = stage.data()
    site = stage.begin(data_dir, through=("sh", "-c", 'exec "$@" >/dev/full 2>&1', "sh"))
    until(lambda: answers_at(site), DEADLINE)
    with stage.crowd(site) as crowd:
        recovery = crowd.recovery(kill(store_process(site)))
    assert site.process.poll() is None
    end_row(Row(27, "disk of the logs full, store killed", recovery=recovery), site, crowd.ledger)
    assert site.stop() == 0


def answers_at(site) -> bool:
    try:
        return site.get("/")[0] == 200
    except OSError:
        return False
