"""Requests whose pages are kept, by view and parameters, and those that the site itself makes to keep a page."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from io import BytesIO
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest
from django.urls import Resolver404, resolve, reverse

from articles.domain.articles import ArticleId
from articles.domain.comments import CommentOrder, article_of
from articles.feeds import BadQuery, feed_filter_of, query_of
from articles.kept_pages.pages import Address
from articles.web.caching import PERSONAL_COOKIES, RULES
from articles.web.preferences import PREFERENCE_COOKIES

AFTER = "after"
"""The articles or comments that one reader has seen: no other reader has the same page."""

FILTER = ("min_points", "hide")
"""Parameters of feeds, which `articles.feeds` reads."""

_PLACE = ("page", AFTER)
_PLACE_IN_THREAD = ("comments", "start", AFTER)

PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "articles:front": _PLACE,
    "articles:newest": _PLACE,
    "articles:hot": ("range", *_PLACE),
    "articles:active": _PLACE,
    "articles:top": ("range", *_PLACE),
    "articles:group": ("order", *_PLACE),
    "articles:host": ("order", "page"),
    "articles:groups": ("any",),
    "articles:article": _PLACE_IN_THREAD,
    "articles:why": ("q",),
    "articles:comment": _PLACE_IN_THREAD,
    "articles:profile": ("page",),
    "articles:member_comments": ("page",),
    "articles:log": ("page",),
    "articles:search": ("q", "group", "order", "kind", "page"),
    "articles:feed": FILTER,
    "articles:top_feed": FILTER,
    "articles:group_feed": FILTER,
    "articles:host_feed": FILTER,
    "articles:user_feed": FILTER,
    "articles:search_feed": ("q", "group", *FILTER),
}
"""Parameters by view name. Public pages that are not listed read none."""


_LINKED: Mapping[str, Collection[str]] = {
    "comments": [order.value for order in CommentOrder],
    **dict.fromkeys(("start", "any", AFTER), ()),
}
"""Values with which the site links to a page that many readers see. Views check the parameters not listed."""


def known_parameters(request: HttpRequest, view: str) -> dict[str, str]:
    """Return the parameters that make it a page of many readers, in the order of the table, with their values."""
    read = [name for name in PARAMETERS.get(view, ()) if name in request.GET]
    return {name: request.GET[name] for name in read if _is_linked(name, request.GET[name])}


def _is_linked(name: str, value: str) -> bool:
    return name not in _LINKED or value in _LINKED[name]


def takes_filter(view: str) -> bool:
    """Return whether the view is of a feed that reads FILTER."""
    return set(FILTER) <= set(PARAMETERS.get(view, ()))


def is_exact(request: HttpRequest, view: str) -> bool:
    """Return whether the address has only parameters of `known_parameters`, each once."""
    return {name: [value] for name, value in known_parameters(request, view).items()} == dict(request.GET.lists())


KEPT_VIEWS = frozenset(RULES)
"""Views whose pages are public."""

_SHAPING_COOKIES = (*PERSONAL_COOKIES, *PREFERENCE_COOKIES)
_FEEDS = frozenset(view for view in RULES if view.endswith("feed"))
_FOR_ALL = _FEEDS | {view for view in RULES if view.startswith("articles:sitemap")}
"""Views whose pages are the same for everyone, in the site's language."""

_ARTICLE = "articles:article"
_COMMENT = "articles:comment"
_SEARCH = "articles:search"

_GROUPS_TOGETHER = "+"

_LONGEST_QUERY = 2_000  # characters
_CONDITIONS = ("HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE", "HTTP_IF_MATCH", "HTTP_IF_UNMODIFIED_SINCE")
_FROM_PROXY = "HTTP_X_FORWARDED_PROTO"


def may_be_kept(request: HttpRequest) -> bool:
    """Return whether the request is for a public page, regardless of the reader."""
    return _view_of(request) in KEPT_VIEWS and _is_read(request)


def _view_of(request: HttpRequest) -> str:
    return request.resolver_match.view_name if request.resolver_match else ""


def _is_read(request: HttpRequest) -> bool:
    return request.method in ("GET", "HEAD")


@cache
def _paths_for_all() -> tuple[str, ...]:
    """Return how the paths of all feeds begin, and those of the sitemap."""
    feeds = reverse("articles:search_feed", args=["atom"]).rpartition("/")[0] + "/"
    return feeds, reverse("articles:sitemap").removesuffix(".xml")


def resolve_shared(request: HttpRequest) -> bool:
    """Find the view of a page that is the same for everyone; return whether the request is for one."""
    if not (_is_read(request) and request.path_info.startswith(_paths_for_all())):
        return False
    with suppress(Resolver404):
        request.resolver_match = resolve(request.path_info)
    return _view_of(request) in _FOR_ALL


def is_plain(request: HttpRequest) -> bool:
    """Return whether only the language shapes the page: every reader without an account sees it like this."""
    if _view_of(request) in _FOR_ALL:
        return True
    return "HTTP_AUTHORIZATION" not in request.META and request.COOKIES.keys().isdisjoint(_SHAPING_COOKIES)


def may_be_copied(request: HttpRequest) -> bool:
    """Return whether the copy of the request's address can be made from its page.

    The page of an address with other parameters may repeat them, and a list with a token is one reader's.
    """
    view = _view_of(request)
    return (view in _FOR_ALL or is_exact(request, view)) and len(_query_of(request)) <= _LONGEST_QUERY


def may_be_copied_later(request: HttpRequest) -> bool:
    """Return whether the site may request the address itself to copy it. It may not repeat a member's search."""
    return may_be_copied(request) and _view_of(request) != _SEARCH


def address_of(request: HttpRequest, language: str) -> Address:
    """Return where the request's page is kept. Raises DisallowedHost."""
    article = _article_of(request)
    language = settings.LANGUAGE_CODE if _view_of(request) in _FOR_ALL else language
    site, query = f"{request.scheme}://{request.get_host()}", _query_of(request)
    return Address(site, request.path, query, language, article, _shelf_of(request, query))


def _shelf_of(request: HttpRequest, query: str) -> str:
    """Return the shelf of an address that readers make up: a search, a filter of a feed, groups shown together."""
    view = _view_of(request)
    takes_any = view == _SEARCH or view in _FOR_ALL
    return view if (takes_any and query) or _GROUPS_TOGETHER in request.path else ""


def _article_of(request: HttpRequest) -> ArticleId | None:
    """Return the article whose page it is, or a page of whose comments; None for any other page."""
    match = request.resolver_match
    if match is None or match.view_name not in (_ARTICLE, _COMMENT):
        return None
    return (
        int(match.kwargs["article_id"]) if match.view_name == _ARTICLE else article_of(match.kwargs["comment_id"])
    )


def _query_of(request: HttpRequest) -> str:
    """Return the canonical query of the address. Parameters that the view does not read make no other page."""
    view = _view_of(request)
    known = known_parameters(request, view)
    if takes_filter(view):
        with suppress(BadQuery):
            own = {name: value for name, value in known.items() if name not in FILTER}
            return query_of(feed_filter_of(request.GET), **own).removeprefix("?")
    return urlencode(known)


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
