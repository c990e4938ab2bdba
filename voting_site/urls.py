"""All addresses of the site."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/", include("articles.api.urls")),
    path("", include("accounts.urls")),
    path("", include("articles.urls")),
]

handler400 = "articles.api.handlers.bad_request"
handler403 = "articles.views.errors.forbidden"
handler404 = "articles.views.errors.not_found"
handler500 = "articles.api.handlers.server_error"
