"""The members' pages and a stub of the front page, for as long as the others are not there."""

from django.contrib import admin
from django.http import HttpResponse
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("accounts.urls")),
    path("", lambda request: HttpResponse("front page"), name="front"),
]
