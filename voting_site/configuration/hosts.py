"""Normalise hosts and networks as operators write them to the form that servers and browsers compare.

Each function raises ValueError for invalid input. A name may end in a dot; IPv6 may be in brackets.
"""

import re
from ipaddress import IPv6Network, ip_address, ip_network

EVERY_ADDRESS = ("0.0.0.0", "::")  # noqa: S104 - addresses to listen on, never names
UNIX = "unix"  # name of a proxy that connects by a Unix socket; see `articles.web.client_address`
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")
_NUMERIC = re.compile(r"(?:.*\.)?[0-9]+")
_IPV4_IN_IPV6 = ip_network("::ffff:0:0/96")


def of_a_server(text: str) -> str:
    """Return a name or an address in lower case, IPv6 without brackets and in its shortest form."""
    bare = text.lower()
    if bare.startswith("[") and bare.endswith("]"):
        bare = bare[1:-1]
        if ":" not in bare:
            raise ValueError(text)
    if ":" in bare or _NUMERIC.fullmatch(bare.removesuffix(".")):
        return _address(bare.removesuffix("."))
    name = bare.removesuffix(".")
    if not _NAME.fullmatch(name):
        raise ValueError(text)
    return name


def _address(text: str) -> str:
    address = ip_address(text)
    if "%" in text:
        raise ValueError(text)  # a zone is valid only on this machine
    return address.compressed


def in_address(host: str) -> str:
    """Return the host with the brackets that IPv6 needs before a port and in Django's ALLOWED_HOSTS."""
    return f"[{host}]" if ":" in host else host


def that_is_answered(text: str) -> str:
    """Return an entry of ALLOWED_HOSTS: a host, `.example.org` with its subdomains, or `*` for all."""
    if text == "*":
        return text
    dot = "." if text.startswith(".") else ""
    return dot + in_address(of_a_server(text.removeprefix(".")))


def network(text: str) -> str:
    """Return an address, a network, or `unix`. Rejects 10.0.0.1/8, which is ambiguous."""
    if text.lower() == UNIX:
        return UNIX
    address, slash, bits = text.partition("/")
    if address.startswith("[") and address.endswith("]"):
        address = address[1:-1]
    parsed = ip_network(f"{address}{slash}{bits}")
    if isinstance(parsed, IPv6Network) and parsed.subnet_of(_IPV4_IN_IPV6):  # type: ignore[arg-type]
        parsed = ip_network((int(parsed.network_address) & 0xFFFFFFFF, parsed.prefixlen - 96))
    return str(parsed)
