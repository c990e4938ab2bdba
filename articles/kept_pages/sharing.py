"""Pages that readers without an account share: which they are, and whose turn it is to write one.

A page depends on a few parts of a request. A few are written at a time in each process, and each once.
"""

import time
from collections.abc import Callable, Iterable
from functools import lru_cache, wraps
from threading import Condition
from types import SimpleNamespace
from typing import Any, NamedTuple

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.cookie import parse_cookie
from django.urls import Resolver404, resolve
from django.utils.translation import get_language_from_request, gettext as _

from articles.page_store import Address
from articles.web.caching import PERSONAL_COOKIES, RULES, accepted_encodings
from articles.web.preferences import PREFERENCE_COOKIES

SHARED_VIEWS = frozenset(RULES) | {"articles:pulse", "api:list_articles", "api:list_hot"}

COUNTED_APART = "articles.counted_apart"
"""Variable of a request whose page is shared, so that the view of the article is counted apart from it."""

PAGE_STATE = "articles.page_state"
"""Variable of a request in which the view of an article notes a function for the token of what the page shows to
every reader; the token is "" if the page has none.
"""

_ARTICLE = "articles:article"

_COOKIES_OF_ONE = (*PERSONAL_COOKIES, settings.CSRF_COOKIE_NAME)

_SHAPING = frozenset(
    ("host", "accept-encoding", "accept-language", "cookie", "if-none-match", "x-forwarded-proto")
)
_PERSONAL = frozenset(
    (
        "authorization", "range", "content-length", "transfer-encoding",
        "if-match", "if-modified-since", "if-unmodified-since",
    )
)  # fmt: skip
"""Headers that Django has to read."""

_OF_ORIGINS = frozenset(("origin", "sec-fetch-site"))
"""Headers by which Django decides whether the API reads cookies: see `voting_site.serving.requests`."""

_LONGEST_PATH = 200  # characters
_LONGEST_LANGUAGES = 500  # characters of Accept-Language with which a request is shared


class Reading(NamedTuple):
    """A request for a shared page. `known` is its If-None-Match."""

    share: "Share"
    known: str
    has_visitor: bool  # whether it has a visitor's cookie

    @property
    def counts(self) -> bool:
        """Whether the request is a view of an article."""
        return self.share.article != 0


class Share(NamedTuple):
    """All that a shared page depends on. `scheme` is the word of a declared proxy, unchanged.

    `article` is the article that each request views, or 0.
    """

    view: str
    article: int
    host: str
    scheme: str
    path: str
    query: str
    is_compressed: bool
    language: str
    preferences: tuple[str, ...]  # cookies of readers without an account: theme, keyboard shortcuts, hidden groups


def reading_of(
    path: str, query: str, headers: Iterable[tuple[str, str]], *, trusts_scheme: bool
) -> Reading | None:
    """Return what a GET reads if it is for a shared page; None if Django has to answer.

    Header names are in lower case. `trusts_scheme`: whether X-Forwarded-Proto comes from a declared proxy.
    """
    view, article = _view_of(path)
    if not view:
        return None
    sent: dict[str, str] = {}
    for name, value in headers:
        if name in _PERSONAL or (name in sent and name in _SHAPING):
            return None
        sent[name] = value
    cookies = parse_cookie(sent["cookie"]) if "cookie" in sent else {}
    languages = sent.get("accept-language", "")
    if any(name in cookies for name in _COOKIES_OF_ONE) or len(languages) > _LONGEST_LANGUAGES:
        return None
    if cookies and view.startswith("api:") and not _OF_ORIGINS.isdisjoint(sent):
        return None
    share = Share(
        view,
        article,
        sent.get("host", ""),
        sent.get("x-forwarded-proto", "") if trusts_scheme else "",
        path,
        query,
        "gzip" in accepted_encodings(sent.get("accept-encoding", "")),
        _language(languages, cookies.get(settings.LANGUAGE_COOKIE_NAME, "")),
        tuple([cookies.get(name, "") for name in PREFERENCE_COOKIES]),
    )
    return Reading(share, sent.get("if-none-match", ""), settings.VISITOR_COOKIE_NAME in cookies)


@lru_cache(4096)
def _view_of(path: str) -> tuple[str, int]:
    """Return the name of the path's view and `Share.article`; the name is "" if its pages are not shared."""
    if len(path) > _LONGEST_PATH:
        return "", 0
    try:
        match = resolve(path)
    except Resolver404:
        return "", 0
    if match.view_name not in SHARED_VIEWS:
        return "", 0
    return match.view_name, match.kwargs["article_id"] if match.view_name == _ARTICLE else 0


@lru_cache(2048)
def _language(accepted: str, chosen: str) -> str:
    """Return the language that a reader without an account gets."""
    cookies = {settings.LANGUAGE_COOKIE_NAME: chosen} if chosen else {}
    request = SimpleNamespace(COOKIES=cookies, META={"HTTP_ACCEPT_LANGUAGE": accepted})
    return get_language_from_request(request)  # type: ignore[arg-type]


PATIENCE = 1.0  # seconds for which a reader without an older copy waits for a turn, or for another reader's
_RETRY_AFTER = 2  # seconds


class Turns:
    """The pages that a process is writing, at most `most` at once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._writing: set[Address] = set()
        self._changed = Condition()

    def take(self, address: Address, seconds: float) -> bool:
        """Wait for at most some seconds for a turn; return whether the caller has it.

        A caller that has waited for another's turn for the same page gets none.
        """
        deadline = time.monotonic() + seconds
        with self._changed:
            is_second = address in self._writing
            while address in self._writing or (not is_second and len(self._writing) >= self._most):
                is_second = is_second or address in self._writing
                if not self._changed.wait(max(0.0, deadline - time.monotonic())):
                    return False
            if not is_second:
                self._writing.add(address)
            return not is_second

    def end(self, address: Address) -> None:
        with self._changed:
            self._writing.discard(address)
            self._changed.notify_all()


class Turn:
    """One request's turn, which its view takes after the rate limits, and which ends when its page is kept."""

    def __init__(self, turns: Turns, address: Address, patience: float) -> None:
        self._turns, self._address, self._patience = turns, address, patience
        self._is_taken = False

    def take(self) -> bool:
        self._is_taken = self._turns.take(self._address, self._patience)
        return self._is_taken

    def __enter__(self) -> "Turn":
        return self

    def __exit__(self, *_error: object) -> None:
        if self._is_taken:
            self._turns.end(self._address)


def in_turn(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Let the view of a page that is the same for everyone wait for its turn; without one respond 503."""

    @wraps(view)
    def waiting(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        turn: Turn | None = vars(request).get("turn")
        if turn is None or turn.take():  # without copies there are no turns
            return view(request, *args, **kwargs)
        sentence = _("Many feeds are being generated right now. Please try again in a moment.")
        response = HttpResponse(f"{sentence}\n", status=503, content_type="text/plain; charset=utf-8")
        response["Retry-After"] = str(_RETRY_AFTER)
        response.has_no_turn = True  # type: ignore[attr-defined]
        return response

    return waiting
