"""The WSGI application that the web server's workers run."""

import os
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from voting_site import accounts_file
from voting_site.configuration.service_urls import POSTGRES
from voting_site.serving.requests import with_declared_proxies

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "voting_site.settings")

application = with_declared_proxies(
    get_wsgi_application(), behind_proxy=settings.BEHIND_PROXY, proxies=settings.TRUSTED_PROXIES
)


_IS_POSTGRES = settings.DATABASES["default"]["ENGINE"] == POSTGRES


def limit_waits() -> None:
    """Let this process not wait long for PostgreSQL, from now on."""
    if _IS_POSTGRES:
        import_module(f"{POSTGRES}.base").limit_waits()


def keep_connections() -> None:
    """Let the connections to the accounts of this process and its children last, from now on."""
    if not _IS_POSTGRES:
        accounts_file.keep_connections()


def leave_database() -> None:
    """Leave the accounts in one file, after the processes that kept connections to it have ended."""
    if not _IS_POSTGRES:
        accounts_file.merge_log()
