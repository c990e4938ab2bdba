"""The housekeeping steps, and `manage.py tick`."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta
from io import StringIO

import pytest
from django.conf import settings as site_settings
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.core.management.base import CommandError
from django.utils import timezone

from articles import housekeeping
from articles.domain.articles import ImportedArticle
from articles.domain.errors import StoreUnavailable
from articles.domain.readership import Visit
from articles.models import ArchivedViews
from articles.web import extras
from articles.web.readership import archive
from articles.web.readership.record import record_view
from tests.internals import LEASE_SECONDS, HeldLease, Hot, failing
from tests.store_state import get_notes, is_rewriting_file, limited_rights, set_clock
from tests.waiting import until

STEPS = [
    "clock", "merges", "ballots", "probation", "voters", "weight", "parameters", "hot", "history",
    "measurements", "groups", "archive", "account_deletion", "mail",
    *(step.name for step in extras.steps()), "tasks", "trim", "expire", "forget", "accounts", "verify", "backup",
]  # fmt: skip


@pytest.fixture(autouse=True)
def opened(settings):
    settings.STORE_OPENER = "contextlib.nullcontext"


def post(repository, number=1):
    return repository.articles.post(1, "alice", f"Article {number}", f"https://example.org/{number}").id


def later(repository, seconds):
    """Advance the repository's clock."""
    set_clock(repository, lambda: time.time() + seconds)


def results(repository):
    return {done.step: done for done in housekeeping.run(repository)}


def noted(repository):
    return get_notes(repository)


def test_every_step_runs_once_and_is_recorded(site_store):
    post(site_store)

    found = results(site_store)

    assert list(found) == STEPS
    assert not any(done.error for done in found.values())
    assert set(noted(site_store)) == set(STEPS)
    assert all(set(note) == {"at", "seconds", "result", "error"} for note in noted(site_store).values())
    assert all(abs(note["at"] - time.time()) < 60 for note in noted(site_store).values())
    assert {step.name for step in site_store.inspection.list_steps()} == set(STEPS)
    assert list(site_store.audit.run()) == []


def test_a_second_run_has_nothing_to_do(site_store):
    post(site_store)
    until(lambda: not is_rewriting_file(site_store))
    set_clock(site_store, site_store.store.now())
    housekeeping.run(site_store)

    assert {done.result for done in housekeeping.run(site_store)} == {""}


def test_each_step_does_what_is_due(site_store):
    now, today = site_store.store.now(), timezone.now()
    rows = [
        ImportedArticle(f"T {n}", f"https://example.org/{n}", 0, "", now - 86400 * (8 + n), 20, 0)
        for n in range(40)
    ]
    for article_id in site_store.imports.add(rows)[:2]:
        site_store.pageviews.record(article_id, Visit("0" * 16))
    for number, ends in enumerate((today - timedelta(days=1), today + timedelta(days=1))):
        Session.objects.create(session_key=str(number), session_data="", expire_date=ends)

    found = results(site_store)

    assert found["weight"].result == "adjusted to 20 votes a day"
    assert site_store.parameters.get_current().votes_per_day == 20
    assert found["history"].result == "40 articles sampled"
    assert found["expire"].result == "1 session deleted"
    later(site_store, site_store.rules.archive_after + 1)
    found = results(site_store)
    assert found["archive"].result == "2 articles archived"
    assert ArchivedViews.objects.count() == 2
    assert found["trim"].result.endswith("dropped")
    assert list(site_store.audit.run()) == []


def test_a_stale_hot_list_is_rescored(site_store):
    site_store.pageviews.record(post(site_store), Visit("0" * 16))
    assert results(site_store)["hot"].result == ""
    before = site_store.hot.get_refreshed_at()
    later(site_store, site_store.rules.hot_refresh - 1)

    assert results(site_store)["hot"].result == "rescored", "not a whole round late"

    assert site_store.hot.get_refreshed_at() > before + 50
    assert list(site_store.audit.run()) == []


def test_leftover_rows_are_deleted(site_store):
    article_id = post(site_store)
    site_store.pageviews.record(article_id, Visit("0" * 16))
    later(site_store, site_store.rules.archive_after + 1)
    housekeeping.run(site_store)
    row = ArchivedViews.objects.get()
    record_view(site_store, article_id, Visit("1" * 16))
    row.save()
    later(site_store, site_store.rules.archive_after + 4000)

    assert results(site_store)["expire"].result == "1 archive row deleted"


def test_a_failing_step_does_not_stop_the_others_and_an_outage_is_logged_in_one_line(site_store, caplog):
    post(site_store)
    with (
        failing(Hot, "is_stale", StoreUnavailable("OOM")),
        failing(archive, "put_away", ZeroDivisionError("x" * 1000)),
    ):
        found = results(site_store)

    assert list(found) == STEPS
    told = {step: done.error for step, done in found.items() if done.error}
    assert told == {"hot": "StoreUnavailable: OOM", "archive": f"ZeroDivisionError: {'x' * 1000}"[:300]}
    assert noted(site_store)["archive"]["error"] == found["archive"].error
    hot, put_away = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert (hot.getMessage(), hot.exc_info) == ("hot failed: StoreUnavailable: OOM", None)
    assert (put_away.getMessage(), put_away.exc_info[0]) == ("archive failed", ZeroDivisionError)


@pytest.mark.needs("one server")
def test_a_store_that_does_not_permit_to_forget_is_reported_once_a_day(site_store, store_paths, caplog):
    with limited_rights(site_store, store_paths.url(0), "+@all", "-bgrewriteaof"):
        assert "does not permit BGREWRITEAOF" in results(site_store)["forget"].error
        assert results(site_store)["forget"].error == ""

    assert [record.levelname for record in caplog.records if "BGREWRITEAOF" in record.message] == ["ERROR"]


def test_housekeeping_by_another_process_is_not_disturbed(site_store, run):
    with site_store.lease.acquire():
        assert housekeeping.run(site_store) == []
        assert run("tick") == "Another process is running housekeeping.\n"
    assert noted(site_store) == {}


def test_a_process_that_loses_the_lease_stops(site_store, monkeypatch):
    monkeypatch.setattr(HeldLease, "renew", lambda _: False)

    assert list(results(site_store)) == STEPS[:1]


def test_housekeeping_stops_between_steps_on_request(site_store):
    asked = iter([False, False, True])

    assert len(housekeeping.run(site_store, lambda: next(asked))) == 2
    with site_store.lease.acquire() as turn:
        assert turn is not None


# The command


def test_the_exit_status_shows_that_a_step_failed(site_store):
    out = StringIO()

    with failing(archive, "put_away", ZeroDivisionError("no")), pytest.raises(SystemExit) as ended:
        call_command("tick", stdout=out)

    assert ended.value.code == 1
    assert "archive: failed: ZeroDivisionError: no (0.0" in out.getvalue()
    assert "expire: " in out.getvalue()


@pytest.mark.parametrize("every", ["0", "-5", "nan", "soon", "86401"])
def test_an_invalid_interval_is_refused(run, every):
    with pytest.raises(CommandError, match="a number of seconds from 1 to 86400"):
        run("tick", f"--every={every}")


# The loop


class Rounds:
    """Counts rounds, fails in some of them, and requests a stop after the last."""

    def __init__(self, repository, stopping, *errors):
        self.repository, self.stopping, self.errors = repository, stopping, list(errors)
        self.told = []

    def __call__(self):
        error = self.errors.pop(0)
        if not self.errors:
            self.stopping.set()
        if error:
            raise error
        return self.repository


def test_the_loop_survives_every_failure(site_store, caplog):
    stopping = threading.Event()
    rounds = Rounds(site_store, stopping, StoreUnavailable("gone"), ZeroDivisionError("odd"), None)
    told = []

    housekeeping.keep(rounds, 0, stopping, told.append)

    assert told == [[]], "the last round: asked to stop before its first step"
    first, second = [r for r in caplog.records if r.name == "articles.housekeeping" and r.levelno > logging.INFO]
    assert first.getMessage() == "housekeeping is postponed because the store is unavailable: gone"
    assert second.exc_info[0] is ZeroDivisionError


class Pauses(threading.Event):
    """A request to stop that comes in the first pause, and knows how long that would have been."""

    seconds = 0.0

    def wait(self, timeout=None):
        self.seconds = timeout
        self.set()
        return True


def test_the_lease_of_a_process_that_died_is_taken_over_within_a_minute(site_store):
    after_a_round, after_a_refusal = Pauses(), Pauses()

    housekeeping.keep(lambda: site_store, 60, after_a_round)
    with site_store.lease.acquire():
        housekeeping.keep(lambda: site_store, 60, after_a_refusal)

    assert after_a_refusal.seconds + LEASE_SECONDS <= 60
    assert after_a_round.seconds > 30, "a process that ran the steps has time"


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.long)])
@pytest.mark.site
def test_the_command_loops_until_a_signal(tmp_path, number):
    environment = {k: v for k, v in os.environ.items() if k not in ("REDIS_URL", "DJANGO_SETTINGS_MODULE")}
    environment |= {"DATA_DIR": str(tmp_path / "data"), "LOG_LEVEL": "WARNING"}
    command = [sys.executable, "manage.py"]
    place = {"cwd": site_settings.BASE_DIR, "env": environment}
    subprocess.run([*command, "migrate", "--skip-checks", "--verbosity", "0"], **place, check=True)
    looping = subprocess.Popen(
        [*command, "tick", "--every", "1"], **place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    lines = [looping.stdout.readline() for _ in range(2 * len(STEPS))]

    looping.send_signal(number)
    _, errors = looping.communicate(timeout=60)

    assert [line.partition(":")[0] for line in lines] == STEPS * 2
    assert (looping.returncode, errors) == (0, "")


def damaged_files(_now):
    return "", "The disk has changed what was written"


def test_damage_on_the_disk_is_logged_once_and_stays_on_the_operators_page(site_store, settings, caplog):
    settings.STORE_VERIFIER = f"{__name__}.damaged_files"

    for _ in range(2):
        housekeeping.run(site_store)

    lasting = next(step for step in site_store.inspection.list_steps() if step.name == "verify")
    assert "The disk has changed what was written" in lasting.error
    assert [r.levelname for r in caplog.records if "disk has changed" in r.getMessage()] == ["ERROR"]


def test_clocks_that_disagree_are_logged_once_in_english(site_store, monkeypatch, caplog, settings):
    settings.LANGUAGE_CODE = "zh-hans"
    monkeypatch.setattr(housekeeping, "_warnings", set())
    began = site_store.store.now()
    set_clock(site_store, began - 7200)

    for _ in range(2):
        assert results(site_store)["clock"].error == ""

    logged = [record.getMessage() for record in caplog.records if "clock" in record.getMessage()]
    found = [line[:40] for line in logged]
    assert found == ["The clock of the store’s machine and thi", "This machine’s clock has been set back: "]
    assert site_store.clock.compare().store == pytest.approx(began, abs=60)


def test_voters_of_articles_closed_long_ago_are_dropped(site_store):
    post(site_store)
    set_clock(site_store, site_store.store.now() + 10 * 86400)
    assert results(site_store)["voters"].result == ""

    site_store.clock.accept()

    assert results(site_store)["voters"].result == "1 voter set dropped"
