"""Requests whose pages are kept, and those that the site itself makes to keep a page."""

from io import BytesIO
from typing import Any

from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest

from articles.kept_pages.pages import Address
from articles.web.caching import RULES
from articles.web.preferences import HIDDEN_COOKIE, KEYBOARD_COOKIE, THEME_COOKIE

KEPT_VIEWS = frozenset(RULES) - {"articles:why"}
"""Views whose pages are public."""

_SHAPING_COOKIES = (settings.SESSION_COOKIE_NAME, "messages", HIDDEN_COOKIE, KEYBOARD_COOKIE, THEME_COOKIE)
_LONGEST_QUERY = 500  # characters
_FROM_PROXY = "HTTP_X_FORWARDED_PROTO"


def may_be_kept(request: HttpRequest) -> bool:
    """Return whether the request is for a public page, regardless of the reader."""
    match = request.resolver_match
    is_short = len(request.META.get("QUERY_STRING", "")) <= _LONGEST_QUERY
    return request.method in ("GET", "HEAD") and match is not None and match.view_name in KEPT_VIEWS and is_short


def is_plain(request: HttpRequest) -> bool:
    """Return whether nothing but the language shapes the page: every reader without account sees it like this."""
    return "HTTP_AUTHORIZATION" not in request.META and request.COOKIES.keys().isdisjoint(_SHAPING_COOKIES)


def address_of(request: HttpRequest, language: str) -> Address:
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
