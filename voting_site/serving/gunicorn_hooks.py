"""gunicorn's configuration: hooks that its master process calls when a worker ends."""

from typing import Any

from prometheus_client.multiprocess import mark_process_dead

from articles.operation import metric_files

_ended: set[int] = set()
"""Ended workers whose counts could not be added up yet, because a reader held the lock; retried with the next."""


def child_exit(server: Any, worker: Any) -> None:
    """Add up the worker's counts and delete its files. Errors are logged, because they would end the server."""
    folder = metric_files.directory()
    if folder is None:
        return
    _ended.add(worker.pid)
    try:
        mark_process_dead(worker.pid, str(folder))  # type: ignore[no-untyped-call]
        if metric_files.absorb(folder, list(_ended)):
            _ended.clear()
    except Exception:
        server.log.exception("the metrics of worker %s could not be added up", worker.pid)
