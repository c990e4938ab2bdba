"""Recording a view of an article: with its page or apart, and whether or not its counters are archived.

Views of readers who get a shared page are gathered, and counted together a moment later.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Event, Lock, Thread
from typing import Any, NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.core.handlers.wsgi import WSGIRequest
from django.core.signals import request_started
from django.db import DatabaseError, connections
from django.http import HttpRequest, HttpResponse
from django.http.cookie import parse_cookie

from articles.domain.articles import ArticleId
from articles.domain.errors import ArticleMerged, ArticleRemoved, ArticlesError, StoreUnavailable, ViewsArchived
from articles.domain.members import UserId
from articles.domain.readership import ViewCount, Visit
from articles.models import ArchivedViews
from articles.repository import Repository
from articles.web.readership.archive import counters_of, forget_row
from articles.web.readership.visitors import is_known_at_once, remember, visit_of
from articles.web.wiring import repository

_log = logging.getLogger(__name__)

_ATTEMPTS = 3


Counted = tuple[Visit, ViewCount] | None  # a view, and what came of it; None if counting failed, which is logged


def count_view(request: HttpRequest, article_id: ArticleId, member: UserId | None = None) -> Counted:
    """Count the view that a request makes. `member`: who opened the article's page, to note the visit."""
    with logged_failure(article_id):
        visit = visit_of(request)
        return visit, record_view(repository(), article_id, visit, member)
    return None


@contextmanager
def counting(
    request: HttpRequest, article_id: ArticleId, member: UserId | None
) -> Iterator[Callable[[], Counted]]:
    """Count the view that a request makes like `count_view`, with the exchange within the block that reads the
    article. Yield a function that returns the result after it; if that exchange could not count, it does.
    """
    with ExitStack() as stack:
        visit, riding = None, None
        with logged_failure(article_id):
            visit = visit_of(request)
            riding = stack.enter_context(repository().pageviews.recording(article_id, visit, member))

        def result() -> Counted:
            if visit is None or riding is None:
                return None
            count = riding.count
            return (visit, count) if count else count_view(request, article_id, member)

        yield result


@contextmanager
def logged_failure(article_id: ArticleId) -> Iterator[None]:
    """Log an error of the repository instead of raising it: a view that cannot be counted is no reason to fail."""
    try:
        yield
    except (ArticleRemoved, ArticleMerged):
        return  # its page remains, and counts no views
    except ArticlesError as error:
        _log.warning("view of article %d not counted: %s: %s", article_id, type(error).__name__, error)


def count_apart(variables: dict[str, Any], article_id: ArticleId) -> list[tuple[str, str]]:
    """Count the view of a reader without an account, who gets a shared page; return the headers to add to it.

    `variables`: the WSGI environment of the request.
    """
    renew_connections()
    request, response = RequestOfReader(variables), HttpResponse()
    if view := count_view(request, article_id):
        remember(request, response, view[0], view[1].reason)
    return _cookies_of(response)


def _cookies_of(response: HttpResponse) -> list[tuple[str, str]]:
    return [("Set-Cookie", morsel.OutputString()) for morsel in response.cookies.values()]


def renew_connections() -> None:
    """Close this thread's database connections that are obsolete or broken, as before any request."""
    request_started.send(sender=WSGIRequest)


class RequestOfReader(HttpRequest):
    """What counting reads of the request of a reader without an account, given its WSGI environment."""

    def __init__(self, variables: dict[str, Any]) -> None:
        self.META = variables
        self.COOKIES = parse_cookie(variables.get("HTTP_COOKIE", ""))
        self.user = AnonymousUser()


def record_view(
    repository: Repository,
    article_id: ArticleId,
    visit: Visit,
    member: UserId | None = None,
    *,
    by_link: bool = False,
) -> ViewCount:
    """Record a view like `Pageviews.record`, after restoring the counters of the article if they are archived.

    Raises ArticleNotFound, ArticleRemoved, ArticleMerged, and StoreUnavailable, also of the database.
    """
    row: ArchivedViews | None = None
    for _ in range(_ATTEMPTS):
        try:
            count = repository.pageviews.record(article_id, visit, member, by_link=by_link)
        except ViewsArchived:
            row = _restore(repository, article_id)
            continue
        if row:
            forget_row(row)
        return count
    raise StoreUnavailable(
        f"the counters of article {article_id} were archived again at each of {_ATTEMPTS} attempts"
    )


def _restore(repository: Repository, article_id: ArticleId) -> ArchivedViews | None:
    """Restore the counters to the store; return their row, which is then no longer needed."""
    try:
        row = ArchivedViews.objects.filter(pk=article_id).first()
    except DatabaseError as error:
        raise StoreUnavailable(f"the database of the archived counters is unavailable: {error}") from error
    if not repository.archive.restore(article_id, counters_of(row) if row else None):
        _log.warning(
            "the archive has no current visitors of article %d: its numbers continue, but former visitors count "
            "once more",
            article_id,
        )
    return row


INTERVAL = 0.1  # seconds for which views are gathered

MOST_WAITING = 5_000  # views that wait at once; beyond, each request counts its own


class _View(NamedTuple):
    article_id: ArticleId
    variables: dict[str, Any]
    visit: Visit | None = None  # the visit of a new reader; that of others is read from their cookies later


class GatheredViews:
    """The views of one process. Its thread begins with the first."""

    def __init__(self) -> None:
        self._waiting: deque[_View] = deque()
        self._arrived, self._closing = Event(), Event()
        self._thread: Thread | None = None
        self._beginning = Lock()

    def add(
        self, variables: dict[str, Any], article_id: ArticleId, *, is_new: bool
    ) -> list[tuple[str, str]] | None:
        """Take the view of a request with these variables (WSGI), in any thread; return headers for the response.

        They set the visitor cookie for a reader who `is_new`. None means that the view has to be counted first:
        too many views wait, or only the store can identify a new reader.
        """
        if len(self._waiting) >= MOST_WAITING or self._closing.is_set():
            return None
        visit, headers = None, list[tuple[str, str]]()
        if is_new:
            if not is_known_at_once():
                return None
            request, response = RequestOfReader(variables), HttpResponse()
            visit = visit_of(request)
            remember(request, response, visit, visit.suspicion)
            headers = _cookies_of(response)
        self._waiting.append(_View(article_id, variables, visit))
        self._arrived.set()
        if self._thread is None:
            self._begin()
        return headers

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
        (view.article_id, view.visit or visit_of(RequestOfReader(view.variables)), now) for view in views
    ]
    for (article_id, visit, _), count in zip(visits, repo.pageviews.record_many(visits), strict=True):
        if count is None:  # its counters are archived, or it is gone
            with logged_failure(article_id):
                record_view(repo, article_id, visit)
