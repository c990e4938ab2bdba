"""Background tasks: work that is done once, later, by housekeeping or `manage.py work`, and survives a kill.

A task is a function marked with `django_tasks.task`. Each is done at least once: after a failure again, ever more
rarely for a day; if its process dies, after `LONGEST`. So tasks are idempotent, or carry a key by which the
receiver knows them. Arguments are JSON.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeAlias

from django.conf import settings
from django.core.signals import request_started
from django.db import DatabaseError, connections
from django.db.models import Count, Min, Q
from django.dispatch import Signal
from django.utils import timezone
from django.utils.crypto import get_random_string
from django_tasks import TaskResultStatus
from django_tasks.base import Task
from django_tasks_db.models import DBTaskResult
from django_tasks_db.utils import exclusive_transaction

_log = logging.getLogger(__name__)

QUEUES = MAIL, OUT = "mail", "out"  # each with a worker of its own: what waits for other sites delays no mail

Row: TypeAlias = DBTaskResult[Any, Any]  # a task as the database has it

MOST = 10_000  # tasks that may wait in a queue


class TaskQueueFull(Exception):
    """As many tasks wait as are possible."""


def add(task: Task[Any, Any], *args: Any) -> None:
    """Add a task, in the caller's transaction, if any. Two queries. Raises TaskQueueFull, DatabaseError."""
    waiting = DBTaskResult.objects.filter(queue_name=task.queue_name, status=TaskResultStatus.READY)
    if waiting.order_by()[MOST - 1 : MOST].exists():
        raise TaskQueueFull(task.queue_name)
    task.using(run_after=timezone.now()).enqueue(*args)


@dataclass(frozen=True, slots=True)
class QueueState:
    waiting: int
    late: float  # seconds since the first of those that are due was due; 0 without any
    failed: int


def read_state() -> QueueState:
    """Return how many tasks wait and failed. One query. Raises DatabaseError."""
    now, is_ready = timezone.now(), Q(status=TaskResultStatus.READY)
    found = DBTaskResult.objects.order_by().aggregate(
        waiting=Count("pk", filter=is_ready),
        failed=Count("pk", filter=Q(status=TaskResultStatus.FAILED)),
        due=Min("run_after", filter=is_ready & Q(run_after__lte=now)),
    )
    late = (now - found["due"]).total_seconds() if found["due"] else 0
    return QueueState(found["waiting"], late, found["failed"])


def list_failed(most: int) -> list[Row]:
    """Return the tasks that failed last, the latest first. One query."""
    return list(DBTaskResult.objects.failed().order_by("-finished_at", "pk")[:most])


def repeat_failed() -> int:
    """Let all tasks that failed be done again; return how many. Idempotent."""
    now = timezone.now()
    return DBTaskResult.objects.failed().update(status=TaskResultStatus.READY, enqueued_at=now, run_after=now)


def discard_failed() -> int:
    """Forget all tasks that failed; return how many. Idempotent."""
    return DBTaskResult.objects.failed().order_by().delete()[0]


LONGEST = timedelta(minutes=5)
"""A task that has run for so long is done again: its process has died. Tasks end well before."""

GIVEN_UP = timedelta(days=1)  # age of a task after which a failure is final

_FIRST_PAUSE = timedelta(seconds=30)
_LONGEST_PAUSE = 6 * 3600.0  # seconds of a pause that a receiver can ask for

_FAILED_KEPT = timedelta(days=7)
_UNTIL_LOOKED_AT = timedelta(hours=1)  # of a task of an extra whose folder was deleted
_POLL = 2.0  # seconds between two looks at an empty queue
_AWAY = 60.0  # seconds for which a queue rests if what it needs cannot be reached
_ROWS = 500  # failed tasks that are deleted at once

_WORKER = get_random_string(16)


rests = Signal()
"""A worker stops working on a queue for now: the sender. Tasks close what they left open for the next ones."""


class GiveUp(Exception):
    """The task would fail each time: it is not tried again."""


class TryLater(Exception):
    """The receiver did not take it, and may ask for a pause before the task is tried again, in seconds."""

    def __init__(self, reason: str, seconds: float = 0.0) -> None:
        super().__init__(reason)
        self.pause = timedelta(seconds=min(seconds, _LONGEST_PAUSE))


class NotYet(Exception):
    """What all tasks of the queue need, such as the mail server, cannot be reached: the queue rests."""


def work_off(queue: str, stopping: Callable[[], bool] = lambda: False) -> int:
    """Do a queue's due tasks, four queries each; return how many ended. Raises NotYet, DatabaseError."""
    done = 0
    try:
        while not stopping() and (row := _claimed(queue)):
            _do(row)
            done += 1
    finally:
        rests.send(sender=queue)
    return done


def _claimed(queue: str) -> Row | None:
    due = DBTaskResult.objects.ready().filter(queue_name=queue)
    if not due.exists():  # an idle worker takes no lock
        return None
    with exclusive_transaction():
        if row := due.get_locked():
            row.claim(_WORKER)
    return row


def _do(row: Row) -> None:
    row.task_path = settings.FORMER_TASKS.get(row.task_path, row.task_path)
    try:
        row.task.call(*row.args_kwargs["args"], **row.args_kwargs["kwargs"])
    except NotYet:
        _postpone(row, timedelta(seconds=_AWAY))
        raise
    except Exception as error:
        if _is_of_deleted_extra(row, error):
            _postpone(row, _UNTIL_LOOKED_AT)
        else:
            _try_again(row, error)
    else:
        row.delete()


def _is_of_deleted_extra(row: Row, error: Exception) -> bool:
    """Return whether the folder of the task is gone. It waits, without a word, until it is back or forgotten."""
    is_gone = isinstance(error, ModuleNotFoundError) and row.task_path.startswith(f"{error.name}.")
    return is_gone and row.task_path.startswith("extras.")


def _try_again(row: Row, error: Exception) -> None:
    """Let a task that failed be done again, after a pause as long as it has waited already; or give it up."""
    age = timezone.now() - row.enqueued_at
    if isinstance(error, GiveUp) or age > GIVEN_UP:
        _log.error("%s failed: %s: %s", row.task_path, type(error).__name__, error)
        row.set_failed(error)
    else:
        _log.warning("%s will be tried again: %s: %s", row.task_path, type(error).__name__, error)
        asked = error.pause if isinstance(error, TryLater) else _FIRST_PAUSE
        _postpone(row, max(_FIRST_PAUSE, asked, age))


def _postpone(row: Row, pause: timedelta) -> None:
    row.status = TaskResultStatus.READY
    row.run_after = timezone.now() + pause
    row.priority = -1  # behind those that have not failed
    row.save(update_fields=["status", "run_after", "priority"])


def tidy() -> int:
    """Let tasks whose process has died be done again, and delete old failures; return how many. Three queries."""
    now = timezone.now()
    lost = DBTaskResult.objects.running().filter(started_at__lt=now - LONGEST)
    given_up = lost.filter(enqueued_at__lt=now - GIVEN_UP).update(
        status=TaskResultStatus.FAILED, finished_at=now, exception_class_path="", traceback="Its process died."
    )
    old = DBTaskResult.objects.failed().filter(finished_at__lt=now - _FAILED_KEPT).order_by()
    deleted, _ = DBTaskResult.objects.filter(pk__in=list(old.values_list("pk", flat=True)[:_ROWS])).delete()
    return given_up + lost.update(status=TaskResultStatus.READY) + deleted


@contextmanager
def keep_working(stopping: threading.Event) -> Iterator[None]:
    """Work on each queue in a thread of its own during the block, until `stopping` is set."""
    has_ended = threading.Event()

    def stops() -> bool:
        return stopping.is_set() or has_ended.is_set()

    workers = [
        threading.Thread(target=_work, args=(queue, stops, has_ended), name=f"tasks: {queue}", daemon=True)
        for queue in QUEUES
    ]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        has_ended.set()
        for worker in workers:
            worker.join()


def _work(queue: str, stops: Callable[[], bool], has_ended: threading.Event) -> None:
    while not stops():
        seconds = _POLL
        try:
            request_started.send(sender=_work)  # receivers close connections that are old, or to a file replaced
            work_off(queue, stops)
        except NotYet as error:
            _log.warning("the tasks of %s rest: %s", queue, error)
            seconds = _AWAY
        except DatabaseError as error:
            _log.warning("the tasks of %s rest: the accounts database is unavailable: %s", queue, error)
            seconds = _AWAY
        except Exception:
            _log.exception("the tasks of %s were interrupted", queue)
            seconds = _AWAY
        has_ended.wait(seconds)
    connections.close_all()
