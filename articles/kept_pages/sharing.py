"""Pages that readers without an account share: which they are, and the parts of a request that they depend on.

An article's page is shared like a list; its views are counted apart from its rendering. Whatever is not listed
here goes to Django. Runs in the web server's event loop, for every request.
"""

from collections.abc import Iterable
from functools import lru_cache
from types import SimpleNamespace
from typing import NamedTuple

from django.conf import settings
from django.http.cookie import parse_cookie
from django.middleware.gzip import re_accepts_gzip
from django.urls import Resolver404, resolve
from django.utils.translation import get_language_from_request

from articles.web.caching import PERSONAL_COOKIES, RULES
from articles.web.preferences import PREFERENCE_COOKIES

SHARED_VIEWS = frozenset(RULES) | {"articles:pulse", "api:list_articles", "api:list_hot"}

COUNTED_APART = "articles.counted_apart"
"""Variable of a request whose page is shared, so that the view of the article is counted apart from it."""

PAGE_STATE = "articles.page_state"
"""Variable of a request in which the view of an article notes the token for what the page shows, if it has one."""

_ARTICLE = "articles:article"

_COOKIES_OF_ONE = (*PERSONAL_COOKIES, settings.CSRF_COOKIE_NAME)

_SHAPING = frozenset(
    ("host", "accept-encoding", "accept-language", "cookie", "if-none-match", "x-forwarded-proto"),
)
_PERSONAL = frozenset(
    (
        *("authorization", "range", "content-length", "transfer-encoding"),
        *("if-match", "if-modified-since", "if-unmodified-since"),
    )
)
"""Headers that Django has to read."""

_LONGEST_PATH = 200  # characters
_LONGEST_LANGUAGES = 500
"""Characters of Accept-Language with which a request is shared."""


class Reading(NamedTuple):
    """A request for a shared page. `known` is its If-None-Match."""

    share: "Share"
    known: str
    has_visitor: bool
    """Whether it has a visitor's cookie."""

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
    preferences: tuple[str, ...]
    """Cookies of readers without an account: theme, keyboard shortcuts, hidden groups."""


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
    share = Share(
        view,
        article,
        sent.get("host", ""),
        sent.get("x-forwarded-proto", "") if trusts_scheme else "",
        path,
        query,
        bool(re_accepts_gzip.search(sent.get("accept-encoding", ""))),
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
    """Return the language that BrowserLanguageMiddleware chooses."""
    cookies = {settings.LANGUAGE_COOKIE_NAME: chosen} if chosen else {}
    request = SimpleNamespace(COOKIES=cookies, META={"HTTP_ACCEPT_LANGUAGE": accepted})
    return get_language_from_request(request)  # type: ignore[arg-type]
