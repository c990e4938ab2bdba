"""Adding tasks, and what operators see of them."""

from dataclasses import dataclass
from typing import Any, TypeAlias

from django.db.models import Count, Min, Q
from django.utils import timezone
from django_tasks import TaskResultStatus
from django_tasks.base import Task
from django_tasks_db.models import DBTaskResult

QUEUES = MAIL, OUT = "mail", "out"
"""Each with a worker of its own: what waits for other sites delays no mail."""

Row: TypeAlias = DBTaskResult[Any, Any]
"""A task as the database has it."""

MOST = 10_000
"""Tasks that may wait in a queue."""


class TaskQueueFull(Exception):
    """As many tasks wait as are possible."""


def add(task: Task[Any, Any], *args: Any) -> None:
    """Add a task to its queue, in the caller's transaction if there is one. Two queries. Raises TaskQueueFull.

    Raises DatabaseError.
    """
    waiting = DBTaskResult.objects.filter(queue_name=task.queue_name, status=TaskResultStatus.READY)
    if waiting.order_by()[MOST - 1 : MOST].exists():
        raise TaskQueueFull(task.queue_name)
    task.using(run_after=timezone.now()).enqueue(*args)


@dataclass(frozen=True, slots=True)
class QueueState:
    """What operators see of the tasks."""

    waiting: int
    late: float
    """Seconds since the first of those that are due was due; 0 without any."""

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
