"""Language of a page: the member's setting, else the cookie, else Accept-Language."""

from collections.abc import Callable

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.utils import translation
from django.utils.cache import patch_vary_headers

IMPERSONAL = ("/feeds/", "/healthz", "/readyz", "/metrics", "/robots.txt", "/sitemap.xml", "/sitemap-")
"""Addresses that never read the session: there, only cookie and browser decide."""


class BrowserLanguageMiddleware:
    """Activate the language of the cookie, else of the browser, as Django's LocaleMiddleware does.

    Django's also looks for languages in addresses, which this site does not have.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        translation.activate(translation.get_language_from_request(request))
        request.LANGUAGE_CODE = current_code()
        response = self._get_response(request)
        patch_vary_headers(response, ("Accept-Language",))
        response.headers.setdefault("Content-Language", current_code())
        return response


class LanguageMiddleware:
    """Activate the language that the member has set. Runs after authentication.

    Reads the account only for requests with a session cookie, as the pages do anyway.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if (language := _member_language(request)) in dict(settings.LANGUAGES):
            translation.activate(language)
            request.LANGUAGE_CODE = language
        response = self._get_response(request)
        patch_vary_headers(response, ("Cookie",))  # BrowserLanguageMiddleware adds Accept-Language
        return response


def _member_language(request: HttpRequest) -> str:
    """Return the logged-in member's setting; '' if there is none, or if the accounts' database is unavailable."""
    if settings.SESSION_COOKIE_NAME not in request.COOKIES or request.path.startswith(IMPERSONAL):
        return ""
    try:
        language: str = request.user.language if request.user.is_authenticated else ""
    except (OperationalError, InterfaceError):  # the view fails too, and answers with its own error
        return ""
    # The member itself instead of a lazy object: pages read a hundred of its attributes.
    request.user = getattr(request, "_cached_user", request.user)
    return language


def current_code() -> str:
    """Return the code of the active language: "en", "zh-hans"."""
    return translation.get_language() or settings.LANGUAGE_CODE


def tag(code: str = "") -> str:
    """Return the BCP 47 tag of a language, by default the active one, for `<html lang>`: "en", "zh-Hans"."""
    return translation.to_locale(code or current_code()).replace("_", "-")
