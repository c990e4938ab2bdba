"""Django's admin site, with the site's own login where there are no passwords."""

from typing import Any

from django.conf import settings
from django.contrib.admin import AdminSite
from django.contrib.admin.apps import AdminConfig
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode


class Site(AdminSite):
    """The admin site."""

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if settings.PASSWORDS or self.has_permission(request):
            return super().login(request, extra_context)
        query = urlencode({"next": request.GET.get("next", reverse("admin:index"))})
        return redirect(f"{settings.LOGIN_URL}?{query}")


class Config(AdminConfig):
    """The app of Django's admin site."""

    default_site = "accounts.admin_site.Site"
