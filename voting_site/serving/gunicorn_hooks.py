"""gunicorn's configuration in Python: what the process that watches over the workers does when one ends."""

from typing import Any

from prometheus_client.multiprocess import mark_process_dead

from articles.operation import metric_files

_ended: set[int] = set()
"""Workers that ended while somebody read the counts; they are added up when the next one ends."""


def child_exit(server: Any, worker: Any) -> None:
    """Keep what the worker counted, but not its files. Whatever fails here may not end the server."""
    folder = metric_files.directory()
    if folder is None:
        return
    _ended.add(worker.pid)
    try:
        mark_process_dead(worker.pid, str(folder))  # type: ignore[no-untyped-call]
        if metric_files.absorb(folder, list(_ended)):
            _ended.clear()
    except Exception:
        server.log.exception("metrics of worker %s were not added up", worker.pid)
