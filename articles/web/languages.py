"""Which language a page is in: the member's own setting, the cookie, what the browser asks for – in this order."""

from collections.abc import Callable

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers

from articles.web.preferences import preferences_of

_IMPERSONAL = ("/feeds/", "/healthz", "/readyz", "/metrics", "/robots.txt", "/sitemap.xml", "/sitemap-")
"""Addresses that never ask who the reader is: there, cookie and browser decide alone."""


class LanguageMiddleware:
    """Lets the member's own setting win; stands behind Django's LocaleMiddleware and the authentication.

    Asks who the reader is only where a session came along, which the pages do anyway.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if (language := _of_member(request)) in dict(settings.LANGUAGES):
            translation.activate(language)
            request.LANGUAGE_CODE = language
        response = self._get_response(request)
        patch_vary_headers(response, ("Cookie",))  # LocaleMiddleware adds Accept-Language
        return response


def _of_member(request: HttpRequest) -> str:
    """The logged-in member's setting; empty if there is none, or if the accounts cannot be reached."""
    if settings.SESSION_COOKIE_NAME not in request.COOKIES or request.path.startswith(_IMPERSONAL):
        return ""
    try:
        return preferences_of(request).language
    except (OperationalError, InterfaceError):  # the view says so, in its own way
        return ""


def in_force() -> str:
    """Code of the language in force: "en", "zh-hans"."""
    return translation.get_language() or settings.LANGUAGE_CODE


def tag(code: str = "") -> str:
    """The language of that code, or else the one in force, as `<html lang>` takes it (BCP 47): "en", "zh-Hans"."""
    return translation.to_locale(code or in_force()).replace("_", "-")
