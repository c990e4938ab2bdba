"""Permanent redirects to the canonical spelling of an address. Each keeps the query."""

from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.urls import Resolver404, resolve


def redirect_to_path(request: HttpRequest, path: str) -> HttpResponse:
    """Redirect to a page with another path."""
    query = request.META.get("QUERY_STRING", "")
    return HttpResponsePermanentRedirect(path + (f"?{query}" if query else ""))


def redirect_without_slash(request: HttpRequest) -> HttpResponse | None:
    """Redirect to the address without its trailing slash; None if there is no page at that address.

    For addresses like `/healthz/`; Django itself redirects from `/newest` to `/newest/`.
    """
    if not request.path_info.endswith("/"):
        return None
    try:
        match = resolve(request.path_info[:-1])
    except Resolver404:
        return None
    if match.url_name is None:  # the catch-all route of unknown addresses
        return None
    return redirect_to_path(request, request.get_full_path().partition("?")[0][:-1])
