"""The pages of errors, 400 to 500. Their signatures are Django's."""

# ruff: noqa: ARG001

from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import Resolver404

from accounts.web.origin import comes_from_elsewhere
from articles.web.addresses import redirect_without_slash
from articles.web.preferences import THEME_COOKIE, THEMES

RETRY_AFTER = 5
"""Seconds after which a client may try again while the store or the accounts are away."""

ACCOUNTS_AWAY = (OperationalError, InterfaceError)


def page(request: HttpRequest, status: int, context: dict[str, Any] | None = None) -> HttpResponse:
    """The page of an error; as for a reader without account where nobody can tell who asks."""
    try:
        return render(request, f"errors/{status}.html", context, status=status)
    except ACCOUNTS_AWAY:
        request.user = AnonymousUser()
        return render(request, f"errors/{status}.html", context, status=status)


def unavailable(request: HttpRequest) -> HttpResponse:
    """With when to come back."""
    answer = page(request, 503)
    answer["Retry-After"] = str(RETRY_AFTER)
    return answer


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return page(request, 413 if isinstance(exception, RequestDataTooBig) else 400)


def forbidden(request: HttpRequest, exception: Exception | None = None, reason: str = "") -> HttpResponse:
    """Also shown for a form with a wrong token or origin (`reason` is set) that its view does not give back."""
    is_foreign = reason.startswith(("Origin", "Referer")) or comes_from_elsewhere(request)
    return page(request, 403, {"stale_form": bool(reason), "is_foreign": bool(reason) and is_foreign})


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """The page, or the way to the address without a slash at the end."""
    forward = redirect_without_slash(request) if isinstance(exception, Resolver404) else None
    return forward or page(request, 404)


def failed(request: HttpRequest) -> HttpResponse:
    """A page that asks neither the store nor the accounts: whatever failed may fail again."""
    theme = request.COOKIES.get(THEME_COOKIE, "")
    page = render_to_string("errors/500.html", {"theme": theme if theme in THEMES else ""}, using="jinja2")
    return HttpResponse(page, status=500)
