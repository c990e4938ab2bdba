"""Recent pages: whole pages of readers without an account, in the memory of a worker for a moment.

Most readers have no account and open the same few lists. They need neither a thread nor Django: a page is rendered
at most about once a second, by one request, while the others get the one before. The page of a much-read article
is not rendered again while it would show the same: the store is asked once a second for all of these pages
together. docs/caching.md says how late each reader sees a change.

A page that is kept is sent from the thread of the web server that has read the request, without a turn of the
event loop, which would cost as much as all else. Rendering, counting views and asking the store run in threads,
and the rest in the event loop.
"""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

from django.utils.http import parse_etags

from articles.domain.articles import ArticleId
from articles.kept_pages.sharing import COUNTED_APART, PAGE_STATE, Reading, Share, reading_of
from articles.operation import ARRIVED_AT, metrics
from voting_site.serving.workers import environ
from voting_site.serving.workers.environ import Headers

FRESH = 1.0  # seconds for which a page is sent as it is
USABLE = 2.0
"""Seconds for which a page is sent while it is rendered again, and in total if the store is asked about it."""

CHECK_EVERY = 1.0  # seconds after which the store is asked about pages that were sent since
LONGEST = 10.0
"""Seconds after which a page is rendered again in any case: views and times in words are not checked."""

_CONDITION = "HTTP_IF_NONE_MATCH"
_SCHEME = "HTTP_X_FORWARDED_PROTO"
MOST_SEEN, LONGEST_SEEN = 2_000, 2_000
"""Maximum number of different requests that are remembered with what they read, and of characters of each."""

MOST_BYTES = 16_000_000
LARGEST_PAGE = 1_000_000  # bytes

_VARIES_BY = frozenset(("accept-encoding", "accept-language", "cookie", "authorization"))
_OF_CONTENT = frozenset(("content-type", "content-length", "content-encoding"))  # headers that a 304 lacks

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RecentPage:
    """A response with status 200. `at` is the monotonic time for which it is known to be right."""

    headers: Headers
    unchanged_headers: Headers  # headers of a 304
    content: bytes
    etag: str
    at: float
    as_of: str  # the latest retraction before it was rendered
    rendered_at: float  # the monotonic time at which its rendering began
    state: str  # a token for what the page of an article shows; "" if the store is not asked about it

    def send(self, protocol: Any, known: str, more: Headers) -> int:
        """Answer with the page, or 304; return which. `known`: If-None-Match; `more`: this reader's headers."""
        if known and self.etag and self._is_among(parse_etags(known)):
            protocol.response_empty(304, self.unchanged_headers + more)
            return 304
        protocol.response_bytes(200, self.headers + more, self.content)
        return 200

    def _is_among(self, etags: list[str]) -> bool:
        own = self.etag.removeprefix("W/")
        return etags == ["*"] or any(etag.removeprefix("W/") == own for etag in etags)


@dataclass(frozen=True, slots=True)
class Views:
    """How views of articles are counted, given a request's variables and the article."""

    count: Callable[[dict[str, Any], int], Headers]
    """Counts one view, and returns headers for its reader alone. Waits for the store."""

    gather: Callable[..., Headers | None]
    """Takes a view to be counted soon, of a reader who `is_new` or not, and returns headers for its reader alone.

    None means that it has to be counted before the answer. Does not wait.
    """

    close: Callable[[], None]


States = Callable[[Collection[ArticleId]], Mapping[ArticleId, str]]
"""Returns a token for what the page of each article shows; none for a page that has to be rendered. Waits for the
store.
"""


def of_all_readers(arrived_at: float, variables: dict[str, Any]) -> dict[str, Any]:
    """Return a request's variables such that the application renders the page of all readers.

    `arrived_at`: before it waited for another request that rendered the page, by the monotonic clock.
    """
    changed = {COUNTED_APART: True, ARRIVED_AT: arrived_at}
    return {name: value for name, value in variables.items() if name != _CONDITION} | changed


class _Sent(NamedTuple):
    """Everything that decides what a GET request reads, and whether it is refused."""

    version: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    trusts_scheme: bool

    @property
    def length(self) -> int:
        """Return about how many characters it has."""
        named = sum(len(name) + len(value) for name, value in self.headers)
        return len(self.path) + len(self.query) + named


class RecentPages:
    """The recent pages of one worker."""

    def __init__(
        self,
        retraction: Callable[[], str],  # returns a token that changes with every retraction
        is_declared: Callable[[str], bool],  # whether the peer with an address is a declared proxy
        views: Views,
        states: States,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._retraction, self._is_declared, self._clock = retraction, is_declared, clock
        self._views, self._states = views, states
        self._pages: OrderedDict[Share, RecentPage] = OrderedDict()  # the oldest first
        self._bytes = 0
        self._keeping = Lock()
        self._rendering: dict[Share, asyncio.Event] = {}
        self._seen: dict[_Sent, Reading] = {}
        self._to_check: set[Share] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run_in(self, loop: asyncio.AbstractEventLoop) -> None:
        """Use this event loop to ask the store about pages."""
        self._loop = loop

    def answer(self, scope: Any, protocol: Any) -> bool:
        """Answer a request with a recent page; return whether there is one. For any thread."""
        reading = self.reading_of(scope)
        if reading is None:
            return False
        page = self._usable(reading.share, is_rendering=reading.share in self._rendering)
        if page is None or (headers := self.gather(reading, scope)) is None:
            return False
        self._note(reading.share, page)
        self.send(page, reading, protocol, headers)
        return True

    def reading_of(self, scope: Any) -> Reading | None:
        """Return what the request reads if it may be a shared page, and is not to be refused. For any thread."""
        if scope.method != "GET":
            return None
        is_declared = self._is_declared(environ.peer_of(scope))
        sent = _Sent(scope.http_version, scope.path, scope.query_string, tuple(scope.headers.items()), is_declared)
        if (known := self._seen.get(sent)) or environ.refusal_of(scope):
            return known
        reading = reading_of(sent.path, sent.query, sent.headers, trusts_scheme=sent.trusts_scheme)
        if reading and not reading.has_visitor and sent.length <= LONGEST_SEEN:  # others hardly repeat
            if len(self._seen) >= MOST_SEEN:
                self._seen.clear()
            self._seen[sent] = reading
        return reading

    async def find(self, reading: Reading) -> RecentPage | None:
        """Return a recent page, or the one that is just being rendered."""
        rendering = self._rendering.get(reading.share)
        page = self._usable(reading.share, is_rendering=rendering is not None)
        if page is None and rendering:
            await rendering.wait()
            page = self._usable(reading.share, is_rendering=True)
        if page:
            self._note(reading.share, page)
        return page

    def _note(self, share: Share, page: RecentPage) -> None:
        """Have the store asked about a page that is about to be sent, in a moment. For any thread."""
        if not page.state or share in self._to_check:
            return
        with self._keeping:
            is_first = not self._to_check
            self._to_check.add(share)
        if is_first and self._loop:
            self._loop.call_soon_threadsafe(self._loop.call_later, CHECK_EVERY, self._begin_to_check)

    def _begin_to_check(self) -> None:
        with self._keeping:
            shares, self._to_check = self._to_check, set()
        asyncio.get_running_loop().run_in_executor(None, self.check, shares)

    def check(self, shares: Collection[Share]) -> None:
        """Ask the store about pages: one that would show the same is recent again. For a thread."""
        at = self._clock()
        pages = {share: page for share in shares if (page := self._pages.get(share)) and page.state}
        states: Mapping[ArticleId, str] = {}
        try:
            states = self._states({share.article for share in pages})
        except Exception as error:  # the application will find the same, and say so
            _log.debug("pages of articles could not be checked: %s", error)
        for share, page in pages.items():
            is_same = states.get(share.article) == page.state and at - page.rendered_at < LONGEST
            checked = replace(page, at=at) if is_same else replace(page, state="")
            with self._keeping:
                if self._pages.get(share) is page:
                    self._pages[share] = checked
                    self._pages.move_to_end(share, last=is_same)

    def gather(self, reading: Reading, scope: Any) -> Headers | None:
        """Take the request's view, if it is one, and return headers for its reader alone.

        None if the view has to be counted before the answer.
        """
        if not reading.counts:
            return []
        variables = _variables(reading, scope)
        return self._views.gather(variables, reading.share.article, is_new=not reading.has_visitor)

    @staticmethod
    def send(page: RecentPage, reading: Reading, protocol: Any, more: Headers | None = None) -> None:
        metrics.count_recent(reading.share.view, page.send(protocol, reading.known, more or []))

    def count_and_send(self, page: RecentPage, reading: Reading, scope: Any, protocol: Any) -> None:
        """Count the view, and answer with a recent page. For a thread."""
        self.send(page, reading, protocol, self._count(reading, scope))

    def _count(self, reading: Reading, scope: Any) -> Headers:
        return self._views.count(_variables(reading, scope), reading.share.article)

    def _counted(self, reading: Reading, scope: Any) -> Headers:
        """Take the request's view like `gather`, or count it. For a thread."""
        headers = self.gather(reading, scope)
        return self._count(reading, scope) if headers is None else headers

    def close(self) -> None:
        """Count the views that are waiting."""
        self._views.close()

    def _usable(self, share: Share, *, is_rendering: bool) -> RecentPage | None:
        page = self._pages.get(share)
        if page is None:
            return None
        seconds = USABLE if is_rendering or page.state else FRESH
        return page if self._clock() - page.at < seconds and page.as_of == self._retraction() else None

    @contextmanager
    def rendering(self, reading: Reading, scope: Any, protocol: Any) -> Iterator["_Rendering"]:
        """Yield a protocol that keeps the page it sends. Other requests wait for the page until the block ends."""
        done = asyncio.Event()
        is_first = self._rendering.setdefault(reading.share, done) is done
        try:
            more = partial(self._counted, reading, scope)
            yield _Rendering(protocol, reading, more, self._keep, self._clock(), self._retraction())
        finally:
            if is_first:
                del self._rendering[reading.share]
            done.set()

    def _keep(self, share: Share, page: RecentPage) -> None:
        with self._keeping:
            self._drop(share)
            self._pages[share] = page
            self._bytes += len(page.content)
            while self._pages:
                oldest, kept = next(iter(self._pages.items()))
                if self._bytes <= MOST_BYTES and self._clock() - kept.at < USABLE:
                    break
                self._drop(oldest)

    def _drop(self, share: Share) -> None:
        if page := self._pages.pop(share, None):
            self._bytes -= len(page.content)


@dataclass(slots=True)
class _Rendering:
    """The protocol through which a thread sends the application's response; keeps a page that can be shared."""

    protocol: Any
    reading: Reading
    more: Callable[[], Headers]
    keep: Callable[[Share, RecentPage], None]
    at: float
    as_of: str
    variables: dict[str, Any] = field(default_factory=dict)

    def begin(self, arrived_at: float, variables: dict[str, Any]) -> dict[str, Any]:
        """Return the variables for the application as `of_all_readers` does: it notes the page's state in them."""
        self.variables = of_all_readers(arrived_at, variables)
        return self.variables

    def response_bytes(self, status: int, headers: Headers, content: bytes) -> None:
        if not _can_be_shared(self.reading, status, headers, content):
            self.protocol.response_bytes(status, headers, content)
            return
        unchanged = [header for header in headers if header[0].lower() not in _OF_CONTENT]
        etag = next((value for name, value in headers if name.lower() == "etag"), "")
        state = self.variables.get(PAGE_STATE, str)()
        page = RecentPage(headers, unchanged, content, etag, self.at, self.as_of, self.at, state)
        self.keep(self.reading.share, page)
        page.send(self.protocol, self.reading.known, self.more())

    def response_str(self, status: int, headers: Headers, content: str) -> None:
        self.protocol.response_str(status, headers, content)

    def response_stream(self, status: int, headers: Headers) -> Any:
        return self.protocol.response_stream(status, headers)


def _variables(reading: Reading, scope: Any) -> dict[str, Any]:
    return environ.of(scope, b"") | {_SCHEME: reading.share.scheme}


def _can_be_shared(reading: Reading, status: int, headers: Headers, content: bytes) -> bool:
    """Return whether the response is the same for all readers without an account.

    That of an article is, although no proxy may share it: the site counts its views.
    """
    values = {name.lower(): value for name, value in headers}
    varies_by = {name.strip().lower() for name in values.get("vary", "").split(",") if name.strip()}
    return (
        status == 200
        and ("no-cache" if reading.counts else "public") in values.get("cache-control", "")
        and "set-cookie" not in values
        and varies_by <= _VARIES_BY
        and len(content) <= LARGEST_PAGE
    )
