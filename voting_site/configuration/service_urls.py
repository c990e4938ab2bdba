"""The URLs of store, cache, database and mail server. Invalid and unsupported ones raise ValueError."""

import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from articles.domain.store_address import Topology, parse
from voting_site.embedded import StorePaths

POSTGRES = "voting_site.postgres"  # the database backend for PostgreSQL
SQLITE = "voting_site.sqlite"  # the database backend for SQLite

_OWN_BACKENDS = {"django.db.backends.postgresql": POSTGRES, "django.db.backends.sqlite3": SQLITE}
"""Our backends by Django's."""


def store(text: str) -> str:
    """Return the URL of a Redis or Valkey server, of sentinels or of a cluster, with its scheme in lower case."""
    return parse(text).url


def cache(text: str) -> str:
    """Return the URL of a cache like a store's. A cluster cannot be one."""
    if parse(text).topology is Topology.CLUSTER:
        raise ValueError("django-redis clears a cache and reads many keys at once")
    return store(text)


def store_url(configured: str, data_dir: Path) -> str:
    return configured or StorePaths(data_dir).url(db=0)


def cache_url(configured: str, store: str) -> str:
    """Return the cache's URL: the configured one, or the next database on the store's server; "" for a cluster."""
    address = parse(store)
    if configured or address.topology is Topology.CLUSTER:
        return configured
    base, _, query = store.partition("?")
    options = {name: values[0] for name, values in parse_qs(query).items()} | {"db": str(address.database + 1)}
    return f"{base}?{urlencode(options)}"


def is_one_database(store: str, cache: str) -> bool:
    """Return whether both are one database, judging by their URLs. Sentinels are one set if they share any."""
    one, other = parse(store), parse(cache)
    if (one.topology, one.service, one.database) != (other.topology, other.service, other.database):
        return False
    if one.servers:
        return not set(one.servers).isdisjoint(other.servers)
    return _location(one.url) == _location(other.url)


def _location(url: str) -> tuple[str, int]:
    """Return one server's path, or its name and port."""
    parts = urlsplit(url)
    return (parts.path, 0) if parts.scheme == "unix" else (parts.hostname or "localhost", parts.port or 6379)


def database(text: str) -> dict[str, Any]:
    """Return Django's settings of the database. A relative path of SQLite stays relative."""
    parsed = _parse(environ.Env.db_url_config, text, "ENGINE")
    if is_sqlite(parsed) and parsed["NAME"] == ":memory:":
        raise ValueError("each process would have its own database in memory")
    if not parsed["NAME"] and "service" not in parsed.get("OPTIONS", {}):
        raise ValueError("no database name")
    parsed["ENGINE"] = _OWN_BACKENDS.get(parsed["ENGINE"], parsed["ENGINE"])
    return parsed


def is_sqlite(database: dict[str, Any]) -> bool:
    return "sqlite" in str(database["ENGINE"])


def mail(text: str) -> dict[str, Any]:
    parsed = _parse(environ.Env.email_url_config, text, "EMAIL_BACKEND")
    scheme = urlsplit(text).scheme
    if (scheme.startswith("smtp") and not parsed["EMAIL_HOST"]) or (
        scheme == "filemail" and not parsed["EMAIL_FILE_PATH"]
    ):
        raise ValueError("no server, or no directory")
    return {name: value for name, value in parsed.items() if name.startswith("EMAIL_")}


def _parse(parser: Any, text: str, module: str) -> dict[str, Any]:
    """Parse a URL. Raises ValueError unless the package named in the result's field `module` is installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed: dict[str, Any] = parser(text)
    except ImproperlyConfigured:
        raise ValueError("unknown scheme") from None
    package = str(parsed.get(module, "")).partition(".")[0]
    if not package or package == urlsplit(text).scheme or find_spec(package) is None:
        raise ValueError("no such driver")
    return parsed


def without_secrets(url: str) -> str:
    """Return host, port and path of a URL, without user, password and options."""
    return url.partition("?")[0].rpartition("@")[2]
