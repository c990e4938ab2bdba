"""Processes of the site are killed, stopped and started twice, or lack what they need, under votes and reads."""

import random
import shutil
import sqlite3
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import closing, contextmanager

import pytest

from tests.cast import PASSWORD
from tests.chaos.links import CUT
from tests.chaos.prepare import LOGIN
from tests.chaos.stage import PATIENCE, SHORT, Row, end_row, kill, scaled
from tests.form_browser import FormBrowser
from tests.site_process import DEADLINE
from tests.waiting import until
from tests.web_processes import answers, parents, server_of, workers_of

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(0)]


WORKERS = 2


@pytest.mark.short
def test_a_vote_whose_worker_is_killed_counts_or_does_not_and_can_be_sent_again(stage):
    site, chance, recoveries = stage.start(stage.data()), random.Random(1), []
    with stage.crowd(site) as crowd:
        for number in range(scaled(50, 5)):
            workers = workers_of(site)
            victim = chance.choice(sorted(workers)) if number % 10 else server_of(site)
            killed_at = kill(victim)
            until(lambda dead=victim: dead not in parents(site), DEADLINE)
            recoveries.append(crowd.recovery(killed_at))
            until(lambda: is_complete(site), DEADLINE, site.told)
    assert SHORT or CUT in crowd.ledger.statuses("vote"), "none was hit: the run proves nothing"
    row = Row(19, f"web worker killed mid-request, {len(recoveries)} times", recovery=max(recoveries))
    end_row(row, site, crowd.ledger)


def is_complete(site) -> bool:
    try:
        return len(workers_of(site)) == WORKERS
    except ValueError:  # the web server is being replaced
        return False


def login(site) -> int:
    browser = FormBrowser(site)
    try:
        browser.send("/login/", "/login/", username=LOGIN, password=PASSWORD)
    except urllib.error.HTTPError as error:
        return error.code
    return 200


@contextmanager
def locked(path):
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("BEGIN EXCLUSIVE")
        try:
            yield
        finally:
            database.execute("ROLLBACK")


@contextmanager
def missing(path):
    files = list(path.parent.glob(f"{path.name}*"))
    away = path.parent / "away"
    away.mkdir()
    for file in files:
        file.rename(away / file.name)
    try:
        yield
    finally:
        for file in path.parent.glob(f"{path.name}*"):
            file.unlink()
        for file in files:
            (away / file.name).rename(file)
        away.rmdir()


@contextmanager
def read_only(path):
    """Mount the file over itself, read-only: its owner may be allowed everything else."""
    if subprocess.run(["mount", "--bind", path, path], capture_output=True, check=False).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", path], check=True)
        yield
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)


def renew_workers(site) -> None:
    """Replace the web processes, whose connections to a file that is now read-only can still write."""
    for worker in workers_of(site):
        kill(worker)
        until(lambda dead=worker: dead not in parents(site), DEADLINE)
    until(lambda: is_complete(site) and answers(site), DEADLINE, site.told)


def test_without_the_accounts_readers_read_and_nothing_fails(stage):
    site, recoveries = stage.start(stage.data()), []
    accounts = site.data_dir / "accounts.sqlite3"
    assert login(site) == 200
    with stage.crowd(site) as crowd:
        for fault in (locked, read_only, missing):
            with fault(accounts):
                if fault is read_only:
                    renew_workers(site)
                began = time.monotonic()
                assert login(site) == 503, fault.__name__
                crowd.wait_past(began + scaled(10, 2), "read")
                assert crowd.ledger.statuses("read", since=began) == {"200"}, fault.__name__
            recoveries.append(crowd.recovery(time.monotonic()))
            until(lambda: login(site) == 200, DEADLINE, site.told)
    row = Row(20, "accounts database locked, read-only, missing", recovery=max(recoveries))
    end_row(row, site, crowd.ledger)


def test_a_site_that_is_stopped_under_load_finishes_requests_and_stops_its_store_last(stage):
    site = stage.start(stage.data())
    with stage.crowd(site) as crowd:
        crowd.wait_for(50)
        began = time.monotonic()
        assert site.stop() == 0
        seconds = time.monotonic() - began
        assert not site.processes()
    notes = {event.note.split()[-1] for event in crowd.ledger.of("vote", "read") if event.status == CUT}
    assert notes <= {"ConnectionRefusedError", "RemoteDisconnected", "ConnectionResetError", "BrokenPipeError"}
    assert crowd.ledger.statuses("vote") <= {"200", CUT}, "the store is there until the last request is answered"
    assert seconds <= 10 * PATIENCE
    site = stage.start(site.data_dir, PORT=str(site.port))
    end_row(Row(25, f"SIGTERM under load, ended after {seconds:.1f} s"), site, crowd.ledger)


def test_with_64_file_descriptors_the_site_serves_or_sheds(stage):
    if shutil.which("prlimit") is None:
        pytest.skip("there is no prlimit")
    site = stage.start(stage.data(), through=("prlimit", "--nofile=64:64"))
    many, few = stage.plan(site, voters=30, readers=60), stage.plan(site)
    many.members, few.members = many.members[:-20], few.members[-20:]
    with stage.crowd(site, many) as crowd:
        crowd.wait_for(200)
        crowd.wait_for(200, "read")
        ended = time.monotonic()
    with stage.crowd(site, few) as calm:
        recovery = calm.recovery(ended)
        calm.wait_for(50)
    assert calm.ledger.statuses("vote", "read") == {"200"}
    row = Row(27, "64 file descriptors, 90 clients; then 7", recovery=recovery)
    end_row(row, site, crowd.ledger, answers=calm.ledger)
