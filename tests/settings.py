"""The site's settings on throw-away data, with a quick password hasher."""

import atexit
import os
import shutil
import tempfile

_data_dir = tempfile.mkdtemp(prefix="voting-site-tests-")
atexit.register(shutil.rmtree, _data_dir, ignore_errors=True)
for _name in ("REDIS_URL", "CACHE_URL", "DATABASE_URL", "SITE_URL", "SECRET_KEY", "EMAIL_URL", "DEBUG"):
    os.environ[_name] = ""
os.environ["EMAIL_URL"] = "memorymail://"
os.environ["DATA_DIR"] = _data_dir
os.environ["LIMITS"] = "off"  # a test that needs limits turns them on
os.environ["STORE_TIMEOUT_MS"] = "10000"  # a busy machine must not look like an unavailable store

from voting_site.settings import *  # noqa: E402, F403

STATIC_ROOT.mkdir()  # noqa: F405 - whitenoise warns if it is missing
# By Django's own backend, pytest-django recognises a database in memory. Whole sites in tests have the site's.
# Queries are written for the kind of database that models find when they are imported.
_ENGINE = "postgresql" if os.environ.get("TOPOLOGY") == "postgres" else "sqlite3"
DATABASES["default"]["ENGINE"] = f"django.db.backends.{_ENGINE}"  # noqa: F405
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}

SEARCH_DIR = None  # each search follows the store of its test
KEPT_PAGES_DIR = None  # tests of outages expect no copy that another test has left
RECENT_PAGES = False
FIXED_SETTINGS = {}  # what this module sets can be changed in the browser

SHARED_DIR = os.environ.get("SHARED_DIR", str(BASE_DIR.parent / "shared"))  # noqa: F405
