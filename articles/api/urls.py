"""Addresses of the API. Unknown ones are answered in JSON too."""

from collections.abc import Iterator

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, path, re_path, reverse
from django.views.decorators.http import require_safe

from articles.api import documentation
from articles.api.protocol.envelope import in_envelope
from articles.api.protocol.problems import not_found
from articles.api.protocol.site_api import api
from articles.web import addresses  # noqa: F401 - registers "article_id"
from articles.web.addresses import redirect_without_slash


@require_safe
def _redirect_to_docs(request: HttpRequest) -> HttpResponse:
    return redirect(request.get_full_path().replace(reverse("api:api-root"), reverse("api:docs"), 1))


def _endpoints() -> Iterator[URLPattern]:
    for pattern in api.urls[0]:
        if isinstance(pattern, URLPattern) and pattern.name != "api-root":
            yield URLPattern(pattern.pattern, in_envelope(pattern.callback), pattern.default_args, pattern.name)


app_name = "api"
urlpatterns = [
    path("", in_envelope(_redirect_to_docs), name="api-root"),
    path("docs", in_envelope(documentation.docs), name="docs"),
    path("openapi.json", in_envelope(documentation.openapi), name="openapi"),
    re_path(r"^(?:docs|openapi\.json)/$", lambda request: redirect_without_slash(request) or not_found().answer),
    *_endpoints(),
    re_path("", in_envelope(lambda _request: not_found().answer)),
]
