"""Django itself: one view that does nothing, behind the middleware of a new Django project.

Settings and URLs of a project of its own, served by the site's web server with its default workers and threads.
"""

from django.http import HttpRequest, HttpResponse
from django.urls import path

from voting_site.configuration.variables import defaults

vars().update(vars(defaults()))  # what the site's web server reads

SECRET_KEY = "for a measurement"
ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
ROOT_URLCONF = "bench.site.peers.hello"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
USE_TZ = True

PASSWORD_HASHES_AT_ONCE = 1
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000_000


def hello(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("hello")


urlpatterns = [path("", hello)]
