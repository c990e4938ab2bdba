"""The URLs of stores: of one server, of a primary that sentinels watch, and of a cluster. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import parse_qs, unquote, urlsplit


class Topology(StrEnum):
    """What a store consists of."""

    SERVER = "server"
    SENTINEL = "sentinel"  # a primary and its replicas; sentinels know which server is the primary
    CLUSTER = "cluster"


ANY_SITE = ""  # instead of the UUID of the site that a store must have: it may have any, or none

_TOPOLOGIES = {
    **dict.fromkeys(("redis", "rediss", "unix"), Topology.SERVER),
    **dict.fromkeys(("sentinel", "sentinel+tls"), Topology.SENTINEL),
    **dict.fromkeys(("cluster", "cluster+tls"), Topology.CLUSTER),
}
_WITH_TLS = ("rediss", "sentinel+tls", "cluster+tls")
_DEFAULT_PORTS = {Topology.SENTINEL: 26379, Topology.CLUSTER: 6379}
_PARTS = re.compile(r"([A-Za-z+]+)://([^/?#]*)(.*)")
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/\[\]@,]+)(?::([0-9]{1,5}))?")
_OPTION = {
    Topology.SERVER: re.compile(r"db|username|password|client_name|socket_keepalive"),
    Topology.SENTINEL: re.compile(r"db|client_name|socket_keepalive|sentinel_(?:username|password)"),
    Topology.CLUSTER: re.compile(r"client_name|socket_keepalive"),
}
"""Query options allowed in a URL: none that would change how the site's client works."""

_TLS_OPTION = re.compile(r"ssl_(?:keyfile|certfile|cert_reqs|ca_certs|ca_path|password|check_hostname)")
_CERT_REQS = ("none", "optional", "required")


@dataclass(frozen=True)
class StoreAddress:
    """Where a store is. `servers`: the sentinels, or some nodes of the cluster; empty for one server."""

    topology: Topology
    url: str
    servers: tuple[tuple[str, int], ...] = ()
    service: str = ""  # the name by which sentinels know the primary
    database: int = 0
    has_tls: bool = False
    username: str = ""
    password: str = ""
    options: Mapping[str, str] = field(default_factory=dict)  # query options other than the database, by name


def parse(url: str) -> StoreAddress:
    """Return the address in a store's URL. Raises ValueError for an invalid one."""
    scheme, places, rest = match.groups() if (match := _PARTS.match(url)) else ("", "", "")
    url, scheme = scheme.lower() + url.removeprefix(scheme), scheme.lower()
    topology, parts = _TOPOLOGIES.get(scheme), urlsplit(rest)  # not of `places`: they may be several
    options = {name: values[-1] for name, values in _query(parts.query).items()}
    if topology is None or not _are_allowed(options, topology, scheme):
        raise ValueError("not a store")
    if topology is Topology.SERVER:
        return StoreAddress(topology, url, database=_database_of_server(url, options))
    login, _, places = places.rpartition("@")
    username, _, password = login.partition(":")
    service = unquote(parts.path.strip("/"))
    if bool(service) is (topology is Topology.CLUSTER) or "/" in service:
        raise ValueError("a service is missing, or has no meaning")
    return StoreAddress(
        topology,
        url,
        tuple(_server(place, _DEFAULT_PORTS[topology]) for place in places.split(",")),
        service,
        _number(options.pop("db", "0")),
        scheme in _WITH_TLS,
        unquote(username),
        unquote(password),
        options,
    )


def _are_allowed(options: Mapping[str, str], topology: Topology, scheme: str) -> bool:
    """Return whether redis-py takes these query options for the scheme."""
    others = [name for name in options if not (scheme in _WITH_TLS and _TLS_OPTION.fullmatch(name))]
    return (
        all(map(_OPTION[topology].fullmatch, others))
        and options.get("ssl_cert_reqs", "none") in _CERT_REQS
        and not (scheme == "unix" and "socket_keepalive" in options)
    )


def _query(text: str) -> dict[str, list[str]]:
    return parse_qs(text, strict_parsing=True) if text else {}


def _database_of_server(url: str, options: Mapping[str, str]) -> int:
    """Return the database number: `?db=2`, or the path `/2` of a URL other than unix://; 0 by default."""
    parts = urlsplit(url)
    path, is_file = parts.path.strip("/"), parts.scheme == "unix"
    if bool(path and not parts.hostname) is not is_file or parts.port == 0 or "," in (parts.hostname or ""):
        raise ValueError("no server, several, or no file")
    return _number(options.get("db", "0" if is_file else path or "0"))


def _number(text: str) -> int:
    if not text.isdecimal():
        raise ValueError("no database number")
    return int(text)


def _server(text: str, default_port: int) -> tuple[str, int]:
    match = _HOST.fullmatch(text)
    port = int(match[2] or default_port) if match else 0
    if not match or not 0 < port < 65536:
        raise ValueError("no host")
    return match[1].strip("[]"), port
