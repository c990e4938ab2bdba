"""The pages of errors, 400 to 500. Their signatures are Django's."""

# ruff: noqa: ARG001

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "errors/400.html", status=400)


def forbidden(request: HttpRequest, exception: Exception | None = None, reason: str = "") -> HttpResponse:
    """Also shown when a form's token is missing or stale (`reason` is then set)."""
    return render(request, "errors/403.html", {"stale_form": bool(reason)}, status=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "errors/404.html", status=404)


def failed(_request: HttpRequest) -> HttpResponse:
    """A page that needs nothing of the site: whatever failed may fail again."""
    return HttpResponse(render_to_string("errors/500.html", using="jinja2"), status=500)
