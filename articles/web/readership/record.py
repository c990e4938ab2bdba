"""Who views an article, and recording it: with its page or apart, whether or not its counters are archived.

Digests tell visitors apart without revealing who they are; programs and prefetching browsers are no readers. Views
of readers who get a shared page are gathered, and counted together a moment later.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from threading import Event, Lock, Thread
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.handlers.wsgi import WSGIRequest
from django.core.signals import request_started
from django.db import DatabaseError, connections
from django.http import HttpRequest, HttpResponse
from django.http.cookie import parse_cookie

from articles.domain.articles import ArticleId
from articles.domain.errors import ArticleMerged, ArticleRemoved, ArticlesError, StoreUnavailable, ViewsArchived
from articles.domain.members import UserId
from articles.domain.readership import REPEAT, Suspicion, ViewCount, Visit
from articles.models import ArchivedViews
from articles.repository import Repository
from articles.web.client_address import Address, address_of, digest, household, neighbourhood
from articles.web.identity import reader_id
from articles.web.readership.archive import counters_of, forget_row
from articles.web.readership.programs import LONGEST, is_bot
from articles.web.wiring import repository

_log = logging.getLogger(__name__)

COOKIE: str = settings.VISITOR_COOKIE_NAME
_SIGNED_FOR = "articles.visitors"
_DAY = 86400
_COOKIE_SECONDS = 30 * _DAY


def visit_of(request: HttpRequest, now: float, client_id: str = "") -> Visit:
    """Return the visit that a request makes at `now`, in Unix seconds. Raises StoreError without the day's salt.

    `client_id` is an API client's name for its user. It only distinguishes users of the same visitor, so no client
    can pass for another visitor. The limit per network applies to these users too.
    """
    salt = _salt(int(now // _DAY))
    address = address_of(request)
    visitor = _visitor(request, address, salt)
    if client_id:
        visitor = digest("client", visitor, client_id)
    network = _network(salt, address) if address else ""
    return Visit(visitor, network, suspicion_of(_headers_of(request)))


@lru_cache(maxsize=2048)
def _network(salt: str, address: Address) -> str:
    return digest("network", salt, neighbourhood(address))


def remember(request: HttpRequest, response: HttpResponse, visit: Visit, reason: str | None) -> None:
    """Set the visitor cookie, except for members, visitors who have it, and suspect views.

    `reason`: why the view does not count; None if it counts, or if that is unknown.
    """
    is_eligible = reason in (None, REPEAT)
    is_known = request.COOKIES.get(COOKIE, "").startswith(f"{visit.visitor}:")  # which `visit_of` has verified
    if not is_eligible or is_known or reader_id(request) is not None:
        return
    response.set_signed_cookie(
        COOKIE,
        visit.visitor,
        salt=_SIGNED_FOR,
        max_age=_COOKIE_SECONDS,
        secure=settings.SESSION_COOKIE_SECURE or request.is_secure(),
        httponly=True,
        samesite="Lax",
    )


def _visitor(request: HttpRequest, address: Address | None, salt: str) -> str:
    member = reader_id(request)
    if member is not None:
        return digest("member", str(member))
    cookie = request.get_signed_cookie(COOKIE, default=None, salt=_SIGNED_FOR, max_age=_COOKIE_SECONDS)
    if cookie:  # neither forged nor too old
        return cookie
    return digest("address", salt, household(address) if address else "", user_agent(_headers_of(request)))


@lru_cache(maxsize=1)
def _salt(epoch_day: int) -> str:
    """Return the salt of a day. Only the last one is cached, so that this process forgets the old ones."""
    salt = repository().pageviews.get_salt(epoch_day)
    _last_day.append(epoch_day)
    return salt


_last_day: deque[int] = deque(maxlen=1)


def is_known_at_once(now: float) -> bool:
    """Return whether `visit_of` needs no exchange with the store."""
    return int(now // _DAY) in _last_day


def user_agent(headers: Mapping[str, str]) -> str:
    """Return the User-Agent header, stripped and cut to LONGEST characters."""
    return headers.get("User-Agent", "").strip()[:LONGEST]


def suspicion_of(headers: Mapping[str, str]) -> Suspicion | None:
    """Return why a request is not from a reader; None if nothing says so."""
    if is_bot(user_agent(headers)):
        return Suspicion.BOT
    if _is_embedded(headers):
        return Suspicion.PREFETCH
    purposes = " ".join(headers.get(name, "") for name in _PURPOSES).lower()
    return Suspicion.PREFETCH if any(word in purposes for word in _AHEAD) else None


def _is_embedded(headers: Mapping[str, str]) -> bool:
    """Return whether another site's page loads this one as an image, in a frame, or by a script.

    None of these shows a reader the article. Old browsers, which do not send the headers, count as readers.
    """
    foreign = headers.get("Sec-Fetch-Site", "") in ("cross-site", "same-site")
    return foreign and headers.get("Sec-Fetch-Dest", "document") != "document"


_PURPOSES = ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz")


_AHEAD = ("prefetch", "prerender", "preview")


_READ = ("User-Agent", "Sec-Fetch-Site", "Sec-Fetch-Dest", *_PURPOSES)
_VARIABLES = {f"HTTP_{name.upper().replace('-', '_')}": name for name in _READ}


def _headers_of(request: HttpRequest) -> dict[str, str]:
    """Return the headers that are read here: a mapping of all takes longer than the rest of `visit_of`."""
    return {name: request.META[variable] for variable, name in _VARIABLES.items() if variable in request.META}


_ATTEMPTS = 3


Counted = tuple[Visit, ViewCount] | None  # a view, and what came of it; None if counting failed, which is logged


def count_view(request: HttpRequest, article_id: ArticleId, member: UserId | None = None) -> Counted:
    """Count the view that a request makes. `member`: who opened the article's page, to note the visit."""
    with logged_failure(article_id):
        repo = repository()
        visit = visit_of(request, repo.store.now())
        return visit, record_view(repo, article_id, visit, member)
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
            repo = repository()
            visit = visit_of(request, repo.store.now())
            riding = stack.enter_context(repo.pageviews.recording(article_id, visit, member))

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
            now = repository().store.now()
            if not is_known_at_once(now):
                return None
            request, response = RequestOfReader(variables), HttpResponse()
            visit = visit_of(request, now)
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
        (view.article_id, view.visit or visit_of(RequestOfReader(view.variables), now), now) for view in views
    ]
    for (article_id, visit, _), count in zip(visits, repo.pageviews.record_many(visits), strict=True):
        if count is None:  # its counters are archived, or it is gone
            with logged_failure(article_id):
                record_view(repo, article_id, visit)
