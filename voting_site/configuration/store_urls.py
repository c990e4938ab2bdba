"""Where the store and the cache are: the operator's own servers, or the embedded one."""

from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from voting_site.configuration.kinds import BadSetting
from voting_site.embedded import StorePaths


def store_url(configured: str, data_dir: Path) -> str:
    """The store's URL: the operator's own, or the embedded server's."""
    return configured or StorePaths(data_dir).url(db=0)


def database_number(url: str) -> int:
    """The database a Redis URL names: `?db=2`, or the path `/2`; 0 if it names none."""
    parts = urlsplit(url)
    if "db" in (query := parse_qs(parts.query)):
        return int(query["db"][0])
    path = parts.path.strip("/")
    return int(path) if parts.scheme != "unix" and path.isdigit() else 0


def _with_database(url: str, number: int) -> str:
    place, _, query = url.partition("?")
    options = {name: values[0] for name, values in parse_qs(query).items()} | {"db": str(number)}
    return f"{place}?{urlencode(options)}"


def cache_url(configured: str, store: str) -> str:
    """The cache's URL: the operator's, or the next database on the store's server."""
    return configured or _with_database(store, database_number(store) + 1)


def check_apart(store: str, cache: str) -> None:
    """Raise BadSetting when both are one database: clearing the cache empties a database."""
    if store and cache and _place(store) == _place(cache):
        raise BadSetting("CACHE_URL and REDIS_URL must not be the same database.")


def _place(url: str) -> tuple[str | None, int, int]:
    """The server, by path or by name and port, and the database."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return parts.path, 0, database_number(url)
    return parts.hostname or "localhost", parts.port or 6379, database_number(url)
