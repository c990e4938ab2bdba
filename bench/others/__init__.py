"""Sites that others wrote, as an operator would set them up. What is here runs in their own environments.

The settings that they have in common: the database, the cache, and long sessions.
"""

import os

SECRET_KEY = "for a measurement"
DEBUG = False
ALLOWED_HOSTS = ["localhost", "127.0.0.1"]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "HOST": os.environ["PEER_SOCKETS"],
        "NAME": os.environ["PEER_NAME"],
        "USER": "postgres",
        "CONN_MAX_AGE": None,
    }
}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": os.environ["PEER_CACHE"],
        "KEY_PREFIX": os.environ["PEER_NAME"],
        "TIMEOUT": 6000,
    }
}
SESSION_ENGINE = "django.contrib.sessions.backends.cached_db"
SESSION_COOKIE_AGE = 10 * 365 * 86400  # the filled database is kept
LOGGING = {"version": 1, "disable_existing_loggers": True}
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
