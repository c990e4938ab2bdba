"""The site's settings, with PostgreSQL for everything: ORM_PEER_SOCKETS names the folder of its socket."""

import os

from voting_site.settings import *  # noqa: F403

ROOT_URLCONF = "bench.orm_peer.urls"
INSTALLED_APPS = [*INSTALLED_APPS, "bench.orm_peer"]
STORE_URL = "unix:///nowhere/store.sock"  # what needs the site's store fails
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "voting_site.serving.requests.BodyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": os.environ["ORM_PEER_SOCKETS"],
        "NAME": "postgres",
        "USER": "postgres",
        "CONN_MAX_AGE": None,
    }
}
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
SESSION_ENGINE = "django.contrib.sessions.backends.db"
TEMPLATES = [
    {
        **TEMPLATES[0],
        "OPTIONS": {
            **TEMPLATES[0]["OPTIONS"],
            "context_processors": [
                "articles.web.context.variables",
                "bench.orm_peer.context.nothing_else",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
    *TEMPLATES[1:],
]
