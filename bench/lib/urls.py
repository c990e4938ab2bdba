"""The site's URLs and `/bench/hello`, the smallest possible response."""

from django.http import HttpRequest, HttpResponse
from django.urls import include, path


def hello(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("hello")


urlpatterns = [path("bench/hello", hello), path("", include("voting_site.urls"))]
