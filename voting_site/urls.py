"""All URLs of the site."""

from typing import NoReturn

from django.contrib import admin
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import include, path, re_path, reverse

from articles.web.extras import addresses


def _no_page(_request: HttpRequest) -> NoReturn:
    """Answer instead of Django's redirects from a row of the database to its page: no row has one."""
    raise Http404


def _log_in(request: HttpRequest) -> HttpResponse:
    """Lead from Django's admin site to the site's own login, with its limits and its second step."""
    if request.user.is_authenticated:
        raise PermissionDenied("for staff")
    return redirect_to_login(request.GET.get("next", reverse("admin:index")))


_OF_EXTRAS = addresses()

urlpatterns = [
    re_path(r"^admin/r/", _no_page),
    path("admin/login/", _log_in),
    path("admin/", admin.site.urls),
    *(path(place, include(urls)) for place, urls in _OF_EXTRAS if place),
    path("api/", include("articles.api.urls")),
    path("", include("articles.urls")),
    path("", include("accounts.urls")),
    *(path(place, include(urls)) for place, urls in _OF_EXTRAS if not place),
]

handler400 = "articles.api.protocol.envelope.bad_request"
handler403 = "articles.web.error_pages.forbidden"
handler404 = "articles.web.error_pages.not_found"
handler500 = "articles.api.protocol.envelope.server_error"
