"""Error pages, 400 to 503. The handlers have the signatures that Django requires."""

# ruff: noqa: ARG001

from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import Resolver404

from accounts.web.sent_forms import comes_from_elsewhere
from articles.domain import errors
from articles.operation import outages
from articles.text.refusals import action_sentence
from articles.web import extras, reading
from articles.web.addresses import redirect_without_slash
from articles.web.preferences import THEME_COOKIE, THEMES

RETRY_AFTER = 5  # seconds after which a client may retry while the store or the accounts' database is unavailable
ACCOUNTS_AWAY = (OperationalError, InterfaceError)


def page(request: HttpRequest, status: int, context: dict[str, Any] | None = None) -> HttpResponse:
    """Render an error page; for a logged-out reader if the accounts' database is unavailable."""
    try:
        return render(request, f"errors/{status}.html", context, status=status)
    except ACCOUNTS_AWAY:
        request.user = AnonymousUser()
        return render(request, f"errors/{status}.html", context, status=status)


def unavailable(request: HttpRequest, error: Exception) -> HttpResponse:
    """Render the page of 503, or a kept copy of a public page. `error`: the store's, or of ACCOUNTS_AWAY."""
    outages.report(error)
    is_change = isinstance(error, errors.StoreError) and request.method == "POST"
    match error:
        case errors.StoreDamaged():
            sentence = action_sentence(error)
        case errors.StoreUnconfirmed() if is_change:
            sentence = action_sentence(error)
        case _:
            sentence = ""
    response = page(request, 503, {"is_change": is_change, "sentence": sentence})
    response.is_outage = True  # type: ignore[attr-defined]
    response["Retry-After"] = str(RETRY_AFTER)
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return page(request, 413 if isinstance(exception, RequestDataTooBig) else 400)


def forbidden(request: HttpRequest, exception: Exception | None = None, reason: str = "") -> HttpResponse:
    """Render the page of 403, including for a form with a stale token or foreign origin (`reason` is set)."""
    is_foreign = reason.startswith(("Origin", "Referer")) or comes_from_elsewhere(request)
    return page(request, 403, {"stale_form": bool(reason), "is_foreign": bool(reason) and is_foreign})


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Render the page of 404, or redirect to the address without its trailing slash, or to where an extra knows.

    On a site for members, an address that does not exist asks for a login like all others.
    """
    is_address = isinstance(exception, Resolver404)
    try:
        if is_address and reading.is_closed_to(request):
            return reading.to_login(request)
        if is_address and (plain := redirect_without_slash(request)):
            return plain
        found = extras.find_unknown(request) if request.method in ("GET", "HEAD") else ""
    except ACCOUNTS_AWAY as error:
        return unavailable(request, error)
    return page(request, 404, {"explained": found} if found else None) if isinstance(found, str) else found


def failed(request: HttpRequest) -> HttpResponse:
    """Render the page of 500 without the store or the accounts' database, which may be what failed."""
    theme = request.COOKIES.get(THEME_COOKIE, "")
    page = render_to_string("errors/500.html", {"theme": theme if theme in THEMES else ""}, using="jinja2")
    return HttpResponse(page, status=500)
