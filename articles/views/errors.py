"""The pages of errors, 400 to 500. Their signatures are Django's."""

# ruff: noqa: ARG001

from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from articles.preferences import THEME_COOKIE, THEMES


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    status = 413 if isinstance(exception, RequestDataTooBig) else 400
    return render(request, f"errors/{status}.html", status=status)


def forbidden(request: HttpRequest, exception: Exception | None = None, reason: str = "") -> HttpResponse:
    """Also shown when a form's token is missing or stale (`reason` is then set)."""
    return render(request, "errors/403.html", {"stale_form": bool(reason)}, status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "errors/404.html", status=404)


def failed(request: HttpRequest) -> HttpResponse:
    """A page that asks neither the store nor the accounts: whatever failed may fail again."""
    theme = request.COOKIES.get(THEME_COOKIE, "")
    page = render_to_string("errors/500.html", {"theme": theme if theme in THEMES else ""}, using="jinja2")
    return HttpResponse(page, status=500)
