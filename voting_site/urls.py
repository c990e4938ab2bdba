"""All URLs of the site."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("api/", include("articles.api.urls")),
    path("", include("accounts.urls")),
    path("", include("articles.urls")),
]

handler400 = "articles.api.protocol.handlers.bad_request"
handler403 = "articles.web.error_pages.forbidden"
handler404 = "articles.web.error_pages.not_found"
handler500 = "articles.api.protocol.handlers.server_error"
