"""The WSGI application that the web server's workers run."""

import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from voting_site import accounts_file
from voting_site.configuration.service_urls import POSTGRES
from voting_site.serving.requests import with_declared_proxies

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "voting_site.settings")

if settings.DATABASES["default"]["ENGINE"] == POSTGRES:
    import_module(f"{POSTGRES}.base").limit_waits()
else:
    accounts_file.keep_connections()

application = with_declared_proxies(
    get_wsgi_application(), behind_proxy=settings.BEHIND_PROXY, proxies=settings.TRUSTED_PROXIES
)
