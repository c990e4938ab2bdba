"""All URLs of the site."""

from typing import NoReturn

from django.contrib import admin
from django.http import Http404, HttpRequest
from django.urls import include, path, re_path


def _no_page(_request: HttpRequest) -> NoReturn:
    """Answer instead of Django's redirects from a row of the database to its page: no row has one."""
    raise Http404


urlpatterns = [
    re_path(r"^admin/r/", _no_page),
    path("admin/", admin.site.urls),
    path("api/", include("articles.api.urls")),
    path("", include("articles.urls")),
    path("", include("accounts.urls")),
]

handler400 = "articles.api.protocol.envelope.bad_request"
handler403 = "articles.web.error_pages.forbidden"
handler404 = "articles.web.error_pages.not_found"
handler500 = "articles.api.protocol.envelope.server_error"
