"""Django's settings. Those that an operator can change are in `configuration/variables.py`, by the same names."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from articles.backup import former
from articles.domain import extras
from voting_site import __version__ as VERSION  # noqa: N812 - a setting
from voting_site.configuration import data_directory, hosts, kinds
from voting_site.configuration.loading import leaving_one_free, load
from voting_site.configuration.service_urls import SQLITE, cache_url, is_sqlite, store_url
from voting_site.configuration.variables import VARIABLES

BASE_DIR = Path(__file__).resolve().parent.parent
CONFIGURATION = load(BASE_DIR)
vars().update(CONFIGURATION)  # all that an operator can change; what differs from it, or is read below, follows

BROWSER_SETTINGS = {
    variable.name: variable for variable in VARIABLES if variable.in_browser
}  # see articles/configuration/choices.py

DATA_DIR = CONFIGURATION["DATA_DIR"]
SECRET_KEY = CONFIGURATION["SECRET_KEY"]
SECRET_KEY_FILE = DATA_DIR / data_directory.KEY_FILE
SECRET_KEY_IS_IN_FILE = data_directory.is_in_file(DATA_DIR, SECRET_KEY)

SITE_URL = CONFIGURATION["SITE_URL"]
_public = urlsplit(SITE_URL)
_HTTPS = _public.scheme == "https"
_HOST_ONLY = "__Host-" if _HTTPS else ""  # browsers then refuse such a cookie from a subdomain, or without TLS
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *CONFIGURATION["ALLOWED_HOSTS"]]
ALLOWED_HOSTS += [
    hosts.in_address(host)
    for host in (_public.hostname, CONFIGURATION["HOST"])
    if host and host not in hosts.EVERY_ADDRESS
]
ALLOWED_HOSTS += (HOSTS_OF_EXTRAS := extras.hosts(CONFIGURATION))
CSRF_TRUSTED_ORIGINS = [SITE_URL] if SITE_URL else []
_about = f" (+{SITE_URL}/about/)" if SITE_URL else ""
USER_AGENT = f"article-voting-site/{VERSION}{_about}"  # of the requests that the site sends

INSTALLED_APPS = [
    "voting_site",
    "articles",
    "accounts",
    "django_tasks",
    "django_tasks_db",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.forms",
]
INSTALLED_APPS += extras.installed_apps(INSTALLED_APPS)

MIDDLEWARE = [  # from the outside to the inside: docs/architecture.md says what each does
    "articles.operation.metrics.MetricsMiddleware",  # outermost: it counts the final responses
    # Headers are on every response: on static files, 304 and errors too.
    "voting_site.serving.requests.SecurityHeadersMiddleware",
    "voting_site.serving.requests.PublicFilesMiddleware",
    "voting_site.serving.requests.BodyMiddleware",
    "articles.middleware.PagesMiddleware",  # inside compression, outside everything that makes responses vary
    "articles.kept_pages.middleware.KeptPagesMiddleware",
    "accounts.web.backend.RenewedSessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "articles.middleware.ReaderMiddleware",
    "accounts.web.sent_forms.FormTokenMiddleware",
    "django.middleware.common.CommonMiddleware",  # checks the host: its refusal is a page in the reader's language
    "django.contrib.messages.middleware.MessageMiddleware",
    "articles.middleware.ViewsMiddleware",
]

ROOT_URLCONF = "voting_site.urls"
WSGI_APPLICATION = "voting_site.wsgi.application"
FORCE_SCRIPT_NAME = ""  # the site has its host for itself: no request can put a prefix before its addresses

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.jinja2.Jinja2",
        "NAME": "jinja2",
        "DIRS": [BASE_DIR / "templates", *extras.template_folders()],
        "OPTIONS": {
            "environment": "voting_site.jinja.environment",
            "context_processors": [
                "articles.web.context.variables",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
    {
        # Only for Django's admin site.
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    },
]

FORM_RENDERER = "django.forms.renderers.TemplatesSetting"

_OWN_DATABASE: dict[str, Any] = {"ENGINE": SQLITE, "NAME": str(DATA_DIR / "accounts.sqlite3")}
DATABASES = {"default": CONFIGURATION["DATABASE_URL"] or _OWN_DATABASE}
if is_sqlite(DATABASES["default"]):
    DATABASES["default"]["NAME"] = str(BASE_DIR / DATABASES["default"]["NAME"])  # the same for every process
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 5,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
SILENCED_SYSTEM_CHECKS = [
    "fields.E180",  # reports a locked SQLite file or a full disk as missing support for JSON
    # Expect Django's own middleware by name: SecurityHeadersMiddleware and FormTokenMiddleware do what it does.
    "security.W001", "security.W002", "security.W003",
]  # fmt: skip
TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend", "QUEUES": []}}
FORMER_TASKS = former.TASKS
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"


# The store: every article, vote and ranking. See docs/data-model.md.
STORE_URL = store_url(CONFIGURATION["REDIS_URL"], DATA_DIR)
STORE_IS_EMBEDDED = not CONFIGURATION["REDIS_URL"]
STORE_CHECKS = "voting_site.store_checks"
STORE_TIMEOUT_MS = CONFIGURATION["STORE_TIMEOUT_MS"]
STORE_OPENER = "voting_site.store_session.opened_store"
WAITING_MAILER = "moderation.mail.send_waiting"
NAME_CHECKER = "articles.web.rules.acting.check_name"
PROBATION_KEEPER = "moderation.vouches.end_probations"
STORE_VERIFIER = "voting_site.store_session.verify_store"
METRICS_FINDER = "voting_site.serving.metrics_folder.find"

# Copies of public pages, for the time when the store is away; None: no copies.
KEPT_PAGES_DIR = DATA_DIR / "kept_pages"
SEARCH_DIR = DATA_DIR / "search"
_THREADS = CONFIGURATION["WEB_THREADS"]
PASSWORD_HASHES_AT_ONCE = leaving_one_free(2, _THREADS)  # each takes 60 MB, and a fifth of a second of a core
SHARED_PAGES_AT_ONCE = leaving_one_free(_THREADS, _THREADS)

# Without a cache that all processes share, there is none: one in each process's memory would keep a session after
# another process has ended it, and a feed's time of change that another process has moved on.
_CACHE_URL = cache_url(CONFIGURATION["CACHE_URL"], STORE_URL)
HAS_CACHE = bool(_CACHE_URL)
_SHARED_CACHE = {
    "default": {
        "BACKEND": "django_redis.cache.RedisCache",
        "LOCATION": [_CACHE_URL],  # a text would be split at its commas
        "KEY_PREFIX": "cache",
        "OPTIONS": {
            "CLIENT_CLASS": "django_redis.client.DefaultClient",
            "CONNECTION_FACTORY": "articles.repository.store.clients.cache.CacheConnections",
            "SOCKET_TIMEOUT": STORE_TIMEOUT_MS / 1000,
            "IGNORE_EXCEPTIONS": True,
        },
    }
}
CACHES = _SHARED_CACHE if HAS_CACHE else {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}
AUTHENTICATION_BACKENDS = ["accounts.web.backend.MemberBackend"]
SESSION_ENGINE = "accounts.remembered" if HAS_CACHE else "django.contrib.sessions.backends.db"
SESSION_COOKIE_AGE = 30 * 86400
MESSAGE_STORAGE = "django.contrib.messages.storage.cookie.CookieStorage"

AUTH_USER_MODEL = "accounts.User"
PASSWORD_HASHERS = ["accounts.passwords.Argon2Hasher", "accounts.passwords.PBKDF2Hasher", *extras.hashers()]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
    {"NAME": "accounts.passwords.SiteNameValidator"},
]
LOGIN_URL = "/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"

vars().update(CONFIGURATION["EMAIL_URL"])
EMAIL_URL = dict[str, Any]()  # what the owner chooses wins over these: see accounts.mail.server
EMAIL_TIMEOUT = 5

LANGUAGE_CODE = "en"
LANGUAGES = list(kinds.LANGUAGES.items())
LANGUAGE_COOKIE_AGE = 365 * 86400
LANGUAGE_COOKIE_SAMESITE = "Lax"
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = ["voting_site.formats"]
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "voting_site.serving.static_files.PreparedStaticFilesStorage"},
}
WHITENOISE_KEEP_ONLY_HASHED_FILES = True

VISITOR_COOKIE_NAME = f"{_HOST_ONLY}visitor"
SESSION_COOKIE_NAME = f"{_HOST_ONLY}sessionid"
CSRF_COOKIE_NAME = f"{_HOST_ONLY}csrftoken"
LANGUAGE_COOKIE_NAME = f"{_HOST_ONLY}language"
SESSION_COOKIE_SECURE = _HTTPS
CSRF_COOKIE_SECURE = _HTTPS
LANGUAGE_COOKIE_SECURE = _HTTPS
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "articles.web.error_pages.forbidden"
BEHIND_PROXY = CONFIGURATION["BEHIND_PROXY"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_PROXY else None
SECURE_HSTS_SECONDS = 365 * 86400 if _HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = CONFIGURATION["HSTS_SUBDOMAINS"]
REDIRECT_TO_HTTPS = _HTTPS and BEHIND_PROXY  # by SecurityHeadersMiddleware
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 1_000_000  # of the API
FORM_MAX_BYTES = 600_000  # the longest is a login form that carries an unsent form: 45,000 characters, encoded
FILE_UPLOAD_HANDLERS = ["voting_site.serving.requests.NoUploads"]
DATA_UPLOAD_MAX_NUMBER_FIELDS = 200

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "text": {"()": "voting_site.configuration.logs.OneLineFormatter"},
        "json": {"()": "voting_site.configuration.logs.JsonFormatter"},
    },
    "filters": {
        "faults": {"()": "voting_site.configuration.logs.TracebacksOfFaults"},
        "outages": {"()": "voting_site.configuration.logs.OutagesReportedOnce"},
    },
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": CONFIGURATION["LOG_FORMAT"],
            "filters": ["faults", "outages"],
        }
    },
    "root": {"handlers": ["console"], "level": CONFIGURATION["LOG_LEVEL"]},
    "loggers": {"django.server": {"handlers": ["console"], "propagate": False}},
}
