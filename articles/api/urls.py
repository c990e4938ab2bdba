"""Addresses of the API. Whatever else is asked for under them is answered in JSON too."""

from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, re_path, reverse
from django.views.decorators.http import require_safe

from articles.api.documentation import page
from articles.api.protocol.envelope import in_envelope
from articles.api.protocol.problems import not_found
from articles.api.protocol.site_api import api
from articles.web import converters  # noqa: F401 - makes "article_id" known
from articles.web.addresses import redirect_without_slash


@require_safe
def _to_docs(request: HttpRequest) -> HttpResponse:
    return redirect(request.get_full_path().replace(reverse("api:api-root"), reverse("api:docs"), 1))


def _nothing_here(_request: HttpRequest) -> HttpResponse:
    return not_found().answer


def _documentation(request: HttpRequest) -> HttpResponse:
    return redirect_without_slash(request) or not_found().answer


def _endpoints() -> Iterator[URLPattern]:
    for found in api.urls[0]:
        if isinstance(found, URLPattern) and found.name != "api-root":
            yield URLPattern(found.pattern, in_envelope(found.callback), found.default_args, found.name)


app_name = "api"
urlpatterns = [
    path("", in_envelope(_to_docs), name="api-root"),
    path("docs", in_envelope(page.docs), name="docs"),
    path("openapi.json", in_envelope(page.openapi), name="openapi"),
    re_path(r"^(?:docs|openapi\.json)/$", _documentation),
    *_endpoints(),
    re_path("", in_envelope(_nothing_here)),
]
