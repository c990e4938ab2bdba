"""Background tasks: work that is done once, later, by housekeeping or `manage.py work`, and survives a kill.

A task is a function marked with `django_tasks.task`. `queueing` adds tasks, `working` does them. Each is done at
least once: after a failure again, ever more rarely for a day; if its process dies, after `working.LONGEST`. So
tasks are idempotent, or carry a key by which the receiver knows them. Arguments are JSON.
"""

from tasks.queueing import (
    MAIL,
    MOST,
    OUT,
    QUEUES,
    QueueState,
    TaskQueueFull,
    add,
    discard_failed,
    list_failed,
    read_state,
    repeat_failed,
)
from tasks.working import GIVEN_UP, GiveUp, NotYet, TryLater, keep_working, rests, tidy, work_off

__all__ = [
    "GIVEN_UP",
    "MAIL",
    "MOST",
    "OUT",
    "QUEUES",
    "GiveUp",
    "NotYet",
    "QueueState",
    "TaskQueueFull",
    "TryLater",
    "add",
    "discard_failed",
    "keep_working",
    "list_failed",
    "read_state",
    "repeat_failed",
    "rests",
    "tidy",
    "work_off",
]
