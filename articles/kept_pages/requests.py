"""Requests whose pages are kept, and those that the site itself makes to keep a page."""

from contextlib import suppress
from functools import cache
from io import BytesIO
from typing import Any

from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest
from django.urls import Resolver404, resolve, reverse

from articles.kept_pages.pages import Address
from articles.web.caching import RULES
from articles.web.preferences import HIDDEN_COOKIE, KEYBOARD_COOKIE, THEME_COOKIE

KEPT_VIEWS = frozenset(RULES) - {"articles:why"}
"""Views whose pages are public."""

_SHAPING_COOKIES = (settings.SESSION_COOKIE_NAME, "messages", HIDDEN_COOKIE, KEYBOARD_COOKIE, THEME_COOKIE)
_FOR_ALL = frozenset(view for view in RULES if view.endswith("feed"))
"""Views whose pages are the same for everyone, in the site's language."""

_LONGEST_QUERY = 500  # characters
_FROM_PROXY = "HTTP_X_FORWARDED_PROTO"


def may_be_kept(request: HttpRequest) -> bool:
    """Return whether the request is for a public page, regardless of the reader."""
    return _view_of(request) in KEPT_VIEWS and _is_short_read(request)


def _view_of(request: HttpRequest) -> str:
    return request.resolver_match.view_name if request.resolver_match else ""


def _is_short_read(request: HttpRequest) -> bool:
    return request.method in ("GET", "HEAD") and len(request.META.get("QUERY_STRING", "")) <= _LONGEST_QUERY


@cache
def _feeds() -> str:
    """Return how the paths of all feeds begin."""
    return reverse("articles:search_feed", args=["atom"]).rpartition("/")[0] + "/"


def resolve_shared(request: HttpRequest) -> bool:
    """Find the view of a page that is the same for everyone; return whether the request is for one."""
    if not (_is_short_read(request) and request.path_info.startswith(_feeds())):
        return False
    with suppress(Resolver404):
        request.resolver_match = resolve(request.path_info)
    return _view_of(request) in _FOR_ALL


def is_plain(request: HttpRequest) -> bool:
    """Return whether nothing but the language shapes the page: every reader without account sees it like this."""
    if _view_of(request) in _FOR_ALL:
        return True
    return "HTTP_AUTHORIZATION" not in request.META and request.COOKIES.keys().isdisjoint(_SHAPING_COOKIES)


def address_of(request: HttpRequest, language: str) -> Address:
    """Return where the request's page is kept. Raises DisallowedHost."""
    language = settings.LANGUAGE_CODE if _view_of(request) in _FOR_ALL else language
    site = f"{request.scheme}://{request.get_host()}"
    return Address(site, request.path, request.META.get("QUERY_STRING", ""), language)


def copying(request: HttpRequest, path: str, query: str, language: str) -> WSGIRequest:
    """Return the request of a reader without account for a page of the site that `request` was for."""
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


def is_copying(request: HttpRequest) -> bool:
    """Return whether the site itself is reading the page to keep a copy, which is not a view."""
    return getattr(request, "is_copying", False)
