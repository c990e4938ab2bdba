"""Housekeeping of a running site: the thread, and the site as the operator starts it."""

import logging
import os
import signal
import threading
from pathlib import Path

import pytest

from articles.domain.measurements import EVERY
from articles.web import extras
from tests.site_process import DEADLINE, store_of
from tests.store_state import age_measurements, get_notes
from tests.waiting import until
from tests.web_processes import folder_of_metrics
from voting_site.serving.workers import housekeeper
from voting_site.serving.workers.housekeeper import Housekeeper

STEPS = {"clock", "merges", "voters", "accounts", "weight", "parameters", "hot", "history", "groups"}
STEPS |= {"archive", "account_deletion", "trim", "expire", "forget", "verify", "measurements", "mail", "backup"}
STEPS |= {"ballots", "probation", "tasks", *(step.name for step in extras.steps())}


def test_housekeeping_runs_until_it_is_stopped():
    begun, stopping, ended = threading.Event(), threading.Event(), threading.Event()

    def keep(stopping):
        begun.set()
        stopping.wait()
        ended.set()

    found = Housekeeper(keep, stopping)
    assert begun.wait(60)
    found.watch()
    assert not ended.is_set()
    stopping.set()
    assert ended.wait(60)
    found.wait()


@pytest.mark.parametrize("error", [ZeroDivisionError("odd"), SystemExit(3), None])
def test_a_thread_that_ends_by_itself_is_reported_and_restarted(error, caplog):
    rounds, second, stopping = [], threading.Event(), threading.Event()

    def keep(stopping):
        rounds.append(1)
        if len(rounds) == 1:
            if error:
                raise error
            return
        second.set()
        stopping.wait()

    found = Housekeeper(keep, stopping)
    found._thread.join(60)
    found.watch()
    assert second.wait(60)
    found.watch()
    stopping.set()
    found.wait()

    assert len(rounds) == 2
    told = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
    assert told == ["housekeeping failed"] * bool(error) + ["housekeeping had ended unexpectedly and is restarted"]


def test_a_stopped_thread_is_not_restarted():
    rounds, stopping = [], threading.Event()
    found = Housekeeper(lambda stopping: rounds.append(stopping.wait()), stopping)
    stopping.set()
    found.wait()
    found.watch()
    assert len(rounds) == 1


def test_a_hanging_thread_does_not_delay_the_shutdown(caplog, monkeypatch):
    monkeypatch.setattr(housekeeper, "STOP_TIMEOUT", 0.05)
    hanging = threading.Event()
    found = Housekeeper(lambda _: hanging.wait(), threading.Event())

    found.wait()

    assert "did not end within 0.05 s and is abandoned" in caplog.text
    hanging.set()
    found._thread.join(60)


def test_a_running_site_runs_housekeeping_automatically(start):
    site = start(TICK_SECONDS="10")
    site.wait_until_up()

    store = store_of(site)
    until(lambda: set(get_notes(store)) == STEPS, DEADLINE)

    first = get_notes(store)
    assert {note["error"] for note in first.values()} == {""}
    assert any(note["result"] for note in first.values())
    other = site.manage("tick")
    assert other.returncode == 0, other.stderr
    until(lambda: get_notes(store)["expire"]["at"] > first["expire"]["at"] + 9, DEADLINE)
    assert site.get("/hot/")[0] == 200
    assert site.stop() == 0
    assert "Traceback" not in site.told()
    assert not site.processes()


@pytest.mark.long
def test_a_running_site_measures_what_its_web_server_counts(start):
    site = start(is_empty=True, TICK_SECONDS="10")
    site.wait_until_up()
    store = store_of(site)
    until(store.measurements.list_recent, DEADLINE, site.told)
    assert site.get("/about/")[0] == 200
    age_measurements(store, EVERY)  # or the next one is made in five minutes
    until(lambda: len(store.measurements.list_recent()) == 2, DEADLINE, site.told)

    _first, measured = store.measurements.list_recent()

    assert (measured.errors, measured.votes, measured.views) == (0, 0, 0)
    assert measured.p99_seconds > 0
    place = "from voting_site.serving.metrics_folder import find; print(find())"
    shell = site.manage("shell", "--verbosity", "0", "-c", place)
    assert shell.stdout.strip() == str(folder_of_metrics(site)), "commands on this machine measure the same"
    assert site.stop() == 0
    assert site.manage("shell", "--verbosity", "0", "-c", place).stdout.strip() == "None"


def test_housekeeping_continues_after_the_store_is_killed(start):
    site = start(TICK_SECONDS="10")
    site.wait_until_up()
    until(lambda: set(get_notes(store_of(site))) == STEPS, DEADLINE)
    before = get_notes(store_of(site))["expire"]["at"]
    (store,) = [pid for pid in site.processes() if b"valkey-server" in Path(f"/proc/{pid}/cmdline").read_bytes()]

    os.kill(store, signal.SIGKILL)

    until(lambda: site.get("/")[0] == 200, DEADLINE)
    assert site.get("/")[1].count('id="article-') == 25, "the store has kept all data"
    until(lambda: get_notes(store_of(site))["expire"]["at"] > before, DEADLINE)
    assert site.stop() == 0


@pytest.mark.parametrize("runs_housekeeping", [True, False])
def test_a_store_that_did_not_answer_at_the_start_is_prepared_in_any_case(monkeypatch, runs_housekeeping):
    done, stopping = [], threading.Event()
    monkeypatch.setattr(housekeeper, "prepare_store", lambda _say: done.append("prepared"))
    monkeypatch.setattr(housekeeper.housekeeping, "keep", lambda *_: done.append("housekeeping"))
    keep = threading.Thread(target=housekeeper._keep_house, args=(False, runs_housekeeping, stopping))

    keep.start()
    until(lambda: len(done) == 1 + runs_housekeeping)
    assert keep.is_alive() or runs_housekeeping, "the launcher would restart it"
    stopping.set()
    keep.join(60)

    assert done == ["prepared", "housekeeping"][: 1 + runs_housekeeping]
