"""URLs of the store and the cache: the operator's own servers, or the embedded one."""

from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from voting_site.configuration.kinds import BadSetting
from voting_site.embedded import StorePaths


def store_url(configured: str, data_dir: Path) -> str:
    """Return the store's URL: the configured one, or the embedded server's."""
    return configured or StorePaths(data_dir).url(db=0)


def database_number(url: str) -> int:
    """Return the database number in a Redis URL: `?db=2` or the path `/2`; 0 by default."""
    parts = urlsplit(url)
    if "db" in (query := parse_qs(parts.query)):
        return int(query["db"][0])
    path = parts.path.strip("/")
    return int(path) if parts.scheme != "unix" and path.isdigit() else 0


def _with_database(url: str, number: int) -> str:
    base, _, query = url.partition("?")
    options = {name: values[0] for name, values in parse_qs(query).items()} | {"db": str(number)}
    return f"{base}?{urlencode(options)}"


def cache_url(configured: str, store: str) -> str:
    """Return the cache's URL: the configured one, or the next database on the store's server."""
    return configured or _with_database(store, database_number(store) + 1)


def check_apart(store: str, cache: str) -> None:
    """Raise BadSetting if both are the same database: clearing the cache empties its database."""
    if store and cache and _location(store) == _location(cache):
        raise BadSetting("CACHE_URL and REDIS_URL must not be the same database.")


def _location(url: str) -> tuple[str | None, int, int]:
    """Return the server's path or name, its port, and the database number."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return parts.path, 0, database_number(url)
    return parts.hostname or "localhost", parts.port or 6379, database_number(url)
