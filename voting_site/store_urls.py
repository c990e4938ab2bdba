"""Where the store and the cache are: the operator's own servers, or the embedded one."""

from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from voting_site.configuration import BadSetting
from voting_site.embedded import StorePaths

_SCHEMES = ("redis", "rediss", "unix")


def store_url(configured: str, data_dir: Path) -> str:
    """The store's URL. Raises BadSetting for one the site cannot speak."""
    if not configured:
        return StorePaths(data_dir).url(db=0)
    return _checked("REDIS_URL", configured)


def _checked(name: str, url: str) -> str:
    """The same; raises BadSetting, which keeps the password in it to itself."""
    try:
        parts = urlsplit(url)
        known = parts.scheme in _SCHEMES and (parts.port, database_number(url))
    except ValueError:
        known = False
    if not known:
        schemes = ", ".join(f"{scheme}://" for scheme in _SCHEMES)
        raise BadSetting(f"{name} must begin with one of {schemes}, and its port and database must be numbers.")
    return url


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
    """The cache's URL: the operator's, or the next database on the store's server.

    Raises BadSetting when it is the store's own database: clearing the cache empties a database.
    """
    if not configured:
        return _with_database(store, database_number(store) + 1)
    here, there = urlsplit(_checked("CACHE_URL", configured)), urlsplit(store)
    same_server = (here.hostname, here.port or 6379) == (there.hostname, there.port or 6379)
    same_place = here.path == there.path if "unix" in (here.scheme, there.scheme) else same_server
    if same_place and database_number(configured) == database_number(store):
        raise BadSetting("CACHE_URL and REDIS_URL must not be the same database.")
    return configured
