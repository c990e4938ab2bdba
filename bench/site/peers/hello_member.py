"""Django itself for a member: one view that names the account of the session, and has a token for a form.

The middleware of a new Django project, on the accounts, sessions and cache of a site. The session comes from the
cache, and the account from the database, by the site's backend, which the sessions name.
"""

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import get_token
from django.urls import path

from bench.site.peers import hello as bare
from voting_site.settings import *  # noqa: F403

MIDDLEWARE = bare.MIDDLEWARE
SESSION_ENGINE = "django.contrib.sessions.backends.cached_db"
DATABASES["default"]["CONN_MAX_AGE"] = 60
ROOT_URLCONF = "bench.site.peers.hello_member"


def hello(request: HttpRequest) -> HttpResponse:
    return HttpResponse(f"hello {request.user.get_username()} {get_token(request)}")


urlpatterns = [path("", hello)]
