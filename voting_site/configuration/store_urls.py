"""URLs of the store and the cache: the operator's own servers, or the embedded one."""

from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

from articles.domain.store_address import StoreAddress, Topology, parse
from voting_site.configuration.kinds import BadSetting
from voting_site.embedded import StorePaths


def store_url(configured: str, data_dir: Path) -> str:
    """Return the store's URL: the configured one, or the embedded server's."""
    return configured or StorePaths(data_dir).url(db=0)


def database_number(url: str) -> int:
    """Return the database number in a store's URL: `?db=2` or the path `/2`; 0 by default."""
    return parse(url).database


def _with_database(url: str, number: int) -> str:
    base, _, query = url.partition("?")
    options = {name: values[0] for name, values in parse_qs(query).items()} | {"db": str(number)}
    return f"{base}?{urlencode(options)}"


def cache_url(configured: str, store: str) -> str:
    """Return the cache's URL: the configured one, or the next database on the store's server; "" for a cluster."""
    if configured or parse(store).topology is Topology.CLUSTER:
        return configured
    return _with_database(store, database_number(store) + 1)


def check_apart(store: str, cache: str) -> None:
    """Raise BadSetting if both are one database, since clearing the cache empties it."""
    if store and cache and _is_same(parse(store), parse(cache)):
        raise BadSetting("CACHE_URL and REDIS_URL must not be the same database.")


def _is_same(store: StoreAddress, cache: StoreAddress) -> bool:
    """Return whether both are one database, as far as addresses say. Sentinels are one set if they share any."""
    if (store.topology, store.service, store.database) != (cache.topology, cache.service, cache.database):
        return False
    if store.servers:
        return not set(store.servers).isdisjoint(cache.servers)
    return _location(store.url) == _location(cache.url)


def _location(url: str) -> tuple[str, int]:
    """Return one server's path, or its name and port."""
    parts = urlsplit(url)
    return (parts.path, 0) if parts.scheme == "unix" else (parts.hostname or "localhost", parts.port or 6379)
