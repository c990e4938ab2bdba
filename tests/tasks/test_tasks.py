"""Background tasks are done at least once, whatever happens to them or their workers."""

from datetime import timedelta
from html import unescape

import pytest
from django.utils import timezone
from django_tasks import TaskResultStatus
from django_tasks_db.models import DBTaskResult

import tasks
from accounts import account_deletion
from accounts.forms import send_reset_links
from accounts.mail import Kind, letter, send_later
from articles.doctor.housekeeping import check_tasks
from tasks import GIVEN_UP, LONGEST, MAIL, OUT, TaskQueueFull
from tests.factories import browser_of, member
from tests.tasks import noted
from tests.tasks.noted import GiveUp, NotYet, TryLater, note

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _anew():
    noted.done.clear()
    noted.failures.clear()


@pytest.fixture
def root(site_store):
    return member("root", is_staff=True, is_superuser=True)


def later(pause: timedelta) -> None:
    """Let time pass for all tasks."""
    for name in ("enqueued_at", "started_at", "finished_at", "run_after"):
        for row in DBTaskResult.objects.exclude(**{name: None}):
            DBTaskResult.objects.filter(pk=row.pk).update(**{name: getattr(row, name) - pause})


def waits_for() -> timedelta:
    return DBTaskResult.objects.get().run_after - timezone.now()


def test_each_task_is_done_once_in_its_order_and_leaves_nothing():
    for name in ("one", "two", "three"):
        tasks.add(note, name)

    assert (tasks.work_off(OUT), tasks.work_off(MAIL), tasks.work_off(MAIL)) == (0, 3, 0)

    assert noted.done == ["one", "two", "three"]
    assert not DBTaskResult.objects.exists()


def test_a_task_that_fails_is_tried_again_after_as_long_as_it_has_waited():
    noted.fail("bad")
    tasks.add(note, "bad")
    tasks.add(note, "good")

    assert tasks.work_off(MAIL) == 2

    assert noted.done == ["bad", "good"]
    assert timedelta(seconds=29) < waits_for() <= timedelta(seconds=30)
    assert tasks.work_off(MAIL) == 0
    later(timedelta(hours=1))
    tasks.work_off(MAIL)
    assert timedelta(minutes=59) < waits_for() < timedelta(minutes=61)
    noted.failures.clear()
    later(timedelta(hours=2))
    assert tasks.work_off(MAIL) == 1
    assert not DBTaskResult.objects.exists()


def test_a_task_of_a_deleted_extra_waits_without_a_word(caplog):
    tasks.add(note, "one")
    DBTaskResult.objects.update(task_path="extras.gongs.sending.deliver")

    tasks.work_off(MAIL)
    later(timedelta(days=3))
    tasks.work_off(MAIL)

    assert not caplog.records
    assert timedelta(minutes=59) < waits_for() <= timedelta(hours=1)
    DBTaskResult.objects.update(task_path=note.module_path)
    later(timedelta(hours=2))
    tasks.work_off(MAIL)
    assert noted.done == ["one"]


@pytest.mark.parametrize(("asked", "pause"), [(5, 30), (600, 600), (10**9, 6 * 3600)])
def test_a_receiver_that_asks_for_a_pause_gets_it_up_to_some_hours(asked, pause):
    noted.fail("busy", TryLater("429", asked))
    tasks.add(note, "busy")

    tasks.work_off(MAIL)

    assert timedelta(seconds=pause - 1) < waits_for() <= timedelta(seconds=pause)


def test_one_that_failed_waits_behind_those_that_did_not():
    noted.fail("bad")
    tasks.add(note, "bad")
    tasks.work_off(MAIL)
    later(timedelta(minutes=1))
    tasks.add(note, "good")

    tasks.work_off(MAIL)

    assert noted.done == ["bad", "good", "bad"]


@pytest.mark.parametrize(("error", "age"), [(None, GIVEN_UP), (GiveUp("never"), timedelta(0))])
def test_after_a_day_or_without_hope_it_is_given_up_and_kept_for_a_week(error, age):
    noted.fail("bad", error)
    tasks.add(note, "bad")
    later(age)

    tasks.work_off(MAIL)

    state = tasks.read_state()
    assert (state.waiting, state.failed) == (0, 1)
    later(timedelta(days=6, hours=23))
    assert tasks.tidy() == 0
    later(timedelta(hours=2))
    assert tasks.tidy() == 1
    assert not DBTaskResult.objects.exists()


def test_a_queue_rests_while_what_all_its_tasks_need_is_away_and_gives_none_up():
    noted.fail("mail", NotYet("no server"))
    tasks.add(note, "mail")
    tasks.add(note, "other")
    later(timedelta(days=3))

    with pytest.raises(NotYet):
        tasks.work_off(MAIL)

    assert noted.done == ["mail"], "the rest has to wait, too"
    assert tasks.read_state().failed == 0
    noted.failures.clear()
    later(timedelta(seconds=61))
    assert tasks.work_off(MAIL) == 2


def test_a_task_whose_process_died_is_done_again_in_five_minutes(monkeypatch):
    def dies(*_):
        raise SystemExit

    tasks.add(note, "one")
    with monkeypatch.context() as patched:
        patched.setattr(DBTaskResult, "delete", dies)
        with pytest.raises(SystemExit):
            tasks.work_off(MAIL)
    later(LONGEST - timedelta(seconds=9))
    assert (tasks.tidy(), tasks.work_off(MAIL)) == (0, 0)
    later(timedelta(seconds=10))

    assert (tasks.tidy(), tasks.work_off(MAIL)) == (1, 1)

    assert noted.done == ["one", "one"]
    assert not DBTaskResult.objects.exists()


def test_a_task_that_kills_each_process_is_given_up_after_a_day():
    tasks.add(note, "one")
    DBTaskResult.objects.update(status=TaskResultStatus.RUNNING, started_at=timezone.now())
    later(GIVEN_UP + timedelta(minutes=1))

    tasks.tidy()

    assert (tasks.read_state().failed, tasks.work_off(MAIL)) == (1, 0)


def test_a_task_of_a_version_that_is_gone_is_given_up_after_a_day():
    tasks.add(note, "one")
    DBTaskResult.objects.update(task_path="accounts.gone.send")
    assert tasks.work_off(MAIL) == 1
    later(GIVEN_UP * 3)
    assert tasks.work_off(MAIL) == 1

    assert [row.exception_class_path for row in tasks.list_failed(9)] == ["builtins.ModuleNotFoundError"]


def test_a_waiting_task_of_a_module_that_has_moved_is_done(settings):
    settings.FORMER_TASKS = {"accounts.gone.send": note.module_path}
    tasks.add(note, "one")
    DBTaskResult.objects.update(task_path="accounts.gone.send")

    assert tasks.work_off(MAIL) == 1

    assert noted.done == ["one"]
    assert not DBTaskResult.objects.exists()


def test_a_queue_is_bounded_and_a_visitor_is_not_disturbed(client, monkeypatch, caplog):
    monkeypatch.setattr(tasks, "MOST", 2)
    member("alice", email="alice@example.org", password="a long secret 71")
    for _ in range(2):
        tasks.add(note, "one")
    with pytest.raises(TaskQueueFull):
        tasks.add(note, "one")

    assert client.post("/password/reset/", {"email": "alice@example.org"}).status_code == 302

    assert DBTaskResult.objects.count() == 2
    assert "too many mails wait" in caplog.text


def test_the_deletion_of_an_account_forgets_its_mail(db):
    alice = member("alice", email="alice@example.org", password="a long secret 71")
    tasks.add(send_reset_links, "alice@example.org", "https", "news.example.org", "en")
    send_later(letter(Kind.TEST, "alice@example.org", {}))
    tasks.add(note, "one")

    account_deletion.begin(alice.pk)

    assert [row.args_kwargs["args"] for row in DBTaskResult.objects.all()] == [["one"]]


def test_the_operator_sees_what_failed_and_repeats_or_discards_it(root):
    noted.fail("bad", GiveUp("The receiver said no."))
    browser, page = browser_of(root), "/operation/"
    assert "The receiver" not in browser.get(page).text
    tasks.add(note, "bad")
    tasks.work_off(MAIL)

    shown = unescape(browser.get(page).text)
    assert "tests.tasks.noted.note" in shown
    assert "The receiver said no." in shown
    assert "1 background task failed." in shown
    form = "/operation/failed-tasks/"
    assert "1 task will be repeated." in browser.post(form, {"act": "repeat"}, follow=True).text
    assert tasks.work_off(MAIL) == 1
    assert "1 task has been discarded." in browser.post(form, {"act": "discard"}, follow=True).text
    assert not DBTaskResult.objects.exists()


def test_others_neither_see_nor_repeat_tasks(site_store):
    assert browser_of(member("alice")).post("/operation/failed-tasks/").status_code == 403
    assert browser_of().post("/operation/failed-tasks/").status_code in (302, 403)


def test_doctor_and_metrics_say_what_waits_is_late_and_failed(site_store, client):
    assert [finding.text for finding in check_tasks(None)] == [
        "0 background tasks wait, none is late, none failed."
    ]
    noted.fail("bad", GiveUp("no"))
    tasks.add(note, "bad")
    tasks.work_off(MAIL)
    tasks.add(note, "one")
    later(timedelta(minutes=11))

    found = [finding.text for finding in check_tasks(None)]
    assert found == ["Background tasks, such as mail, are 11 min 0 s late.", "1 background task failed."]
    values = dict(
        line.split(" ") for line in client.get("/metrics").text.splitlines() if line.startswith("site_t")
    )
    assert (float(values["site_tasks"]), float(values["site_task_late_seconds"]) // 60) == (1, 11)
    assert "site_failed_tasks 1.0" in client.get("/metrics").text
