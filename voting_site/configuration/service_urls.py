"""Parse the URLs of external servers. Each function raises ValueError for an invalid or unsupported URL."""

import re
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

POSTGRES = "voting_site.postgres"
"""The database backend for PostgreSQL."""

_DJANGOS_POSTGRES = "django.db.backends.postgresql"
_STORE_SCHEMES = ("redis", "rediss", "unix")
_STORE_OPTION = re.compile(
    r"db|username|password|client_name|socket_keepalive"
    r"|ssl_(?:keyfile|certfile|cert_reqs|ca_certs|ca_path|password|check_hostname)"
)
"""Query options allowed in a store's URL: none that would change how the site's client works."""


def store(text: str) -> str:
    """Check the URL of a Redis or Valkey server, and return it unchanged."""
    parts = urlsplit(text)
    options = parse_qs(parts.query, strict_parsing=True) if parts.query else {}
    is_file = parts.scheme == "unix"
    number = options.get("db", [parts.path.strip("/")])[0] if not is_file else options.get("db", ["0"])[0]
    known = parts.scheme in _STORE_SCHEMES and all(map(_STORE_OPTION.fullmatch, options))
    placed = parts.path.strip("/") and not parts.hostname if is_file else parts.port != 0
    if not known or not placed or not (number.isdecimal() or (number == "" and "db" not in options)):
        raise ValueError("not a store")
    return text


def database(text: str) -> dict[str, Any]:
    """Return Django's settings of the database. A relative path of SQLite stays relative."""
    parsed = _parse(environ.Env.db_url_config, text, "ENGINE")
    if is_sqlite(parsed) and parsed["NAME"] == ":memory:":
        raise ValueError("each process would have its own database in memory")
    if not parsed["NAME"] and "service" not in parsed.get("OPTIONS", {}):
        raise ValueError("no database name")
    if parsed["ENGINE"] == _DJANGOS_POSTGRES:
        parsed["ENGINE"] = POSTGRES
    return parsed


def is_sqlite(database: dict[str, Any]) -> bool:
    return "sqlite" in str(database["ENGINE"])


def sqlite_at(path: Path) -> dict[str, Any]:
    """Return Django's settings of a database in a file."""
    return {"ENGINE": environ.Env.DB_SCHEMES["sqlite"], "NAME": str(path)}


def mail(text: str) -> dict[str, Any]:
    """Return Django's settings of the mail server."""
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
