"""Views of known visitors who get a shared page: gathered, and counted together a moment later.

Only the page waits for no store: each view counts like any other. A killed process loses those of a tenth of a
second; one that is stopped counts them first.
"""

import logging
from collections import deque
from threading import Event, Lock, Thread
from typing import Any, NamedTuple

from django.db import connections

from articles.domain.articles import ArticleId
from articles.domain.errors import ArticlesError
from articles.domain.readership import Visit
from articles.readership.identity import visit_of
from articles.readership.record import logged_failure, record_view, renew_connections, request_from
from articles.wiring import repository

INTERVAL = 0.1
"""Seconds for which views are gathered."""

MOST_WAITING = 5_000
"""Views that wait at once. Beyond, each request counts its own."""

_log = logging.getLogger(__name__)


class _View(NamedTuple):
    variables: dict[str, Any]
    article_id: ArticleId


class GatheredViews:
    """The views of one process. Its thread begins with the first."""

    def __init__(self) -> None:
        self._waiting: deque[_View] = deque()
        self._arrived, self._closing = Event(), Event()
        self._thread: Thread | None = None
        self._beginning = Lock()

    def add(self, variables: dict[str, Any], article_id: ArticleId) -> bool:
        """Take the view of a request with these variables (WSGI), in any thread; return False if too many wait."""
        if len(self._waiting) >= MOST_WAITING or self._closing.is_set():
            return False
        self._waiting.append(_View(variables, article_id))
        self._arrived.set()
        if self._thread is None:
            self._begin()
        return True

    def _begin(self) -> None:
        with self._beginning:
            if self._thread is None:
                self._thread = Thread(target=self._run, name="views", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """Count what is waiting, and end."""
        self._closing.set()
        self._arrived.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while self._waiting or not self._closing.is_set():
            self._arrived.wait()
            self._closing.wait(INTERVAL)
            self._arrived.clear()
            views = [self._waiting.popleft() for _ in range(len(self._waiting))]
            try:
                count(views)
            except ArticlesError as error:
                _log.warning("%d views not counted: %s: %s", len(views), type(error).__name__, error)
            except Exception:
                _log.exception("%d views not counted", len(views))
        connections.close_all()


def count(views: list[_View]) -> None:
    """Count these views together. Raises as `record_view` does."""
    renew_connections()
    repo = repository()
    now = repo.store.now()
    visits: list[tuple[ArticleId, Visit, float]] = [
        (view.article_id, visit_of(request_from(view.variables)), now) for view in views
    ]
    for (article_id, visit, _), count in zip(visits, repo.pageviews.record_many(visits), strict=True):
        if count is None:  # its counters are archived, or it is gone
            with logged_failure(article_id):
                record_view(repo, article_id, visit)
