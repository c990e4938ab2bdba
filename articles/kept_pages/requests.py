"""Requests whose pages are kept, by view and parameters, and those that the site itself makes to keep a page."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from io import BytesIO
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.core.exceptions import DisallowedHost
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest
from django.urls import Resolver404, resolve, reverse

from articles.configuration.choices import chosen
from articles.domain import extras
from articles.domain.articles import ArticleId
from articles.domain.comments import CommentOrder, article_of
from articles.domain.lists import PAGES, PERIODS
from articles.page_store import Address
from articles.web.caching import FEEDS, PERSONAL_COOKIES, RULES
from articles.web.feeds import BadQuery, feed_filter_of, query_of
from articles.web.preferences import PREFERENCE_COOKIES

AFTER = "after"  # the articles or comments that one reader has seen: no other reader has the same page
LOG_FILTER = ("action", "actor", "member", "group", "rest")
"""Parameters of the moderation log, which `moderation.log` reads."""

FILTER = ("min_points", "hide")  # parameters of feeds, which `articles.web.feeds` reads
_PLACE = ("page", AFTER)
_PLACE_IN_THREAD = ("comments", "start", AFTER)

PARAMETERS: Mapping[str, tuple[str, ...]] = {
    **{f"articles:{name}": ("range", *_PLACE) if order in PERIODS else _PLACE for order, name in PAGES.items()},
    "articles:group": ("order", *_PLACE),
    "articles:host": ("order", "page"),
    "articles:groups": ("any", "order", "q"),
    "articles:article": _PLACE_IN_THREAD,
    "articles:why": ("q",),
    "articles:comment": _PLACE_IN_THREAD,
    "articles:profile": ("page",),
    "articles:member_comments": ("page",),
    "articles:log": ("page", *LOG_FILTER),
    "articles:search": ("q", "group", "order", "kind", "page"),
    "articles:feed": FILTER,
    "articles:top_feed": FILTER,
    "articles:group_feed": FILTER,
    "articles:host_feed": FILTER,
    "articles:user_feed": FILTER,
    "articles:search_feed": ("q", "group", *FILTER),
    **{view.name: view.parameters for view in extras.views() if view.parameters},
}
"""Parameters by view name. Public pages that are not listed read none."""


_LINKED: Mapping[str, Collection[str]] = {
    "comments": [order.value for order in CommentOrder],
    **dict.fromkeys(("start", "any", AFTER), ()),
}
"""Values with which the site links to a page that many readers see. Views check the parameters not listed."""


KEPT_VIEWS = frozenset(RULES)  # views whose pages are public
_SHAPING_COOKIES = (*PERSONAL_COOKIES, *PREFERENCE_COOKIES)
_FOR_ALL = FEEDS | {view for view in RULES if view.startswith("articles:sitemap")}
"""Views whose pages are the same for everyone, in the site's language."""

_ARTICLE = "articles:article"
_COMMENT = "articles:comment"
_SEARCH = "articles:search"
_LOG = "articles:log"
_GROUPS = "articles:groups"

_GROUPS_TOGETHER = "+"

_LONGEST_QUERY = 2_000  # characters

SHARED_FOR = 60.0
"""Seconds for which a feed is served from its copy. Clients may keep it for longer, see `articles.web.caching`."""

_CONDITIONS = ("HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE", "HTTP_IF_MATCH", "HTTP_IF_UNMODIFIED_SINCE")
_FROM_PROXY = "HTTP_X_FORWARDED_PROTO"


class PublicPage(NamedTuple):
    """The public page that a request is for, regardless of the reader. `site` is scheme and host."""

    view: str
    site: str
    path: str
    query: str  # the canonical one: parameters that the view does not read make no other page
    is_exact: bool
    """Whether the address has only parameters that make it a page of many readers, each once.

    Others may be repeated on the page, and a list with a token is one reader's.
    """

    article: ArticleId | None  # the article whose page it is, or a page of whose comments
    shelf: str
    """See `Address`: for addresses that readers make up, such as searches, filters, and groups shown together."""

    @property
    def may_be_copied(self) -> bool:
        """Whether the page of a reader without an account can be copied."""
        return (self.view in _FOR_ALL or self.is_exact) and len(self.query) <= _LONGEST_QUERY

    @property
    def may_be_copied_later(self) -> bool:
        """Whether the site may request the page itself to copy it: not a search, which may be a member's."""
        return self.may_be_copied and self.view != _SEARCH

    def address(self, language: str) -> Address:
        """Return where the page is kept."""
        language = chosen.language if self.view in _FOR_ALL else language
        return Address(self.site, self.path, self.query, language, self.article, self.shelf)


def public_page(request: HttpRequest) -> PublicPage | None:
    """Return the public page that the request reads; None for any other request. Raises DisallowedHost."""
    match = request.resolver_match
    if match is None or match.view_name not in KEPT_VIEWS or request.method not in ("GET", "HEAD"):
        return None
    view, article = match.view_name, None
    if view == _ARTICLE:
        article = match.kwargs["article_id"]
    elif view == _COMMENT:
        article = article_of(match.kwargs["comment_id"])
    known = {name: request.GET[name] for name in PARAMETERS.get(view, ()) if name in request.GET}
    known = {name: value for name, value in known.items() if name not in _LINKED or value in _LINKED[name]}
    query = _canonical(request, view, known)
    takes_any = view in (_SEARCH, _LOG, _GROUPS) or view in _FOR_ALL
    shelf = view if (takes_any and query) or _GROUPS_TOGETHER in request.path else ""
    return PublicPage(
        view,
        f"{request.scheme}://{request.get_host()}",
        request.path,
        query,
        {name: [value] for name, value in known.items()} == dict(request.GET.lists()),
        article,
        shelf,
    )


def _canonical(request: HttpRequest, view: str, known: Mapping[str, str]) -> str:
    if set(FILTER) <= set(PARAMETERS.get(view, ())):
        with suppress(BadQuery):
            own = {name: value for name, value in known.items() if name not in FILTER}
            return query_of(feed_filter_of(request.GET), **own).removeprefix("?")
    return urlencode(known)


@cache
def _paths_for_all() -> tuple[str, ...]:
    """Return the prefixes of the paths of feeds and of the sitemap."""
    feeds = reverse("articles:search_feed", args=["atom"]).rpartition("/")[0] + "/"
    return feeds, reverse("articles:sitemap").removesuffix(".xml")


def shared_page(request: HttpRequest) -> PublicPage | None:
    """Find the view of a page that is the same for everyone, and return the page; None for any other request.

    None also for a host that is not the site's: its view refuses it.
    """
    if not request.path_info.startswith(_paths_for_all()):
        return None
    with suppress(Resolver404, DisallowedHost):
        request.resolver_match = resolve(request.path_info)
        page = public_page(request)
        return page if page and page.view in _FOR_ALL else None
    return None


def is_plain(request: HttpRequest) -> bool:
    """Return whether only the language shapes the page: every reader without an account sees it like this."""
    return "HTTP_AUTHORIZATION" not in request.META and request.COOKIES.keys().isdisjoint(_SHAPING_COOKIES)


def copying(request: HttpRequest, path: str, query: str, language: str) -> WSGIRequest:
    """Return the request of a reader without an account for a page of the site that `request` was for."""
    scheme = request.scheme or "http"
    environ: dict[str, Any] = {
        "REQUEST_METHOD": "GET",
        "SCRIPT_NAME": "",
        "PATH_INFO": path.encode().decode("latin-1"),
        "QUERY_STRING": query,
        "HTTP_HOST": request.get_host(),
        "SERVER_NAME": request.META.get("SERVER_NAME", ""),
        "SERVER_PORT": request.META.get("SERVER_PORT", ""),
        "REMOTE_ADDR": "",
        "HTTP_ACCEPT_LANGUAGE": language,
        "wsgi.url_scheme": scheme,
        "wsgi.input": BytesIO(),
        **({_FROM_PROXY: request.META[_FROM_PROXY]} if _FROM_PROXY in request.META else {}),
    }
    copy = WSGIRequest(environ)
    copy.is_copying = True  # type: ignore[attr-defined]
    return copy


@contextmanager
def whole(request: HttpRequest) -> Iterator[None]:
    """Make the request ask for the whole page inside the block, whatever version the client has."""
    method, known = request.method, {name: request.META.pop(name) for name in _CONDITIONS if name in request.META}
    request.method = "GET"
    try:
        yield
    finally:
        request.method = method
        request.META.update(known)


def is_copying(request: HttpRequest) -> bool:
    """Return whether the site itself is reading the page to keep a copy, which is not a view."""
    return getattr(request, "is_copying", False)
