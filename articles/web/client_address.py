"""Whose address a request comes from, and which addresses belong together. Standard library only."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

UNIX = "unix"
"""Stands for a proxy that comes over a Unix socket, which has no address."""

_WITH_PORT = re.compile(r"\[([^\]]*)\](?::[0-9]{1,5})?|([0-9.]+):[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class Proxies:
    """The proxies whose word on their clients' addresses is taken."""

    networks: tuple[Network, ...] = ()
    unix: bool = False

    @classmethod
    def named(cls, names: Iterable[str]) -> "Proxies":
        """From addresses, networks and `UNIX`. Raises ValueError, also for a network with bits of a host in it."""
        known = tuple(names)
        return cls(tuple(ip_network(name) for name in known if name != UNIX), UNIX in known)

    def trusts(self, address: Address) -> bool:
        return any(address in network for network in self.networks)

    def trusts_peer(self, remote: str, address: Address | None) -> bool:
        """Whether who is connected is one of them; `address` is what could be read of `remote`."""
        return self.trusts(address) if address else self.unix and not remote


def client_address(remote: str, forwarded: str, proxies: Proxies) -> Address | None:
    """The nearest address that is not a trusted proxy's; None if even the nearest cannot be read.

    `remote` is the peer's address, "" over a Unix socket; `forwarded` is the header X-Forwarded-For, to which each
    proxy adds at the right. What stands to the left of a stranger's or of an unreadable entry is anybody's word.
    """
    found = read_address(remote)
    if not proxies.trusts_peer(remote, found):
        return found
    for entry in reversed(forwarded.split(",")):
        address = read_address(entry)
        if address is None:
            break
        found = address
        if not proxies.trusts(address):
            break
    return found


def read_address(text: str) -> Address | None:
    """An address, maybe with a port; IPv4 written as IPv6 is IPv4, and the name of an interface is dropped."""
    text = text.strip()
    if with_port := _WITH_PORT.fullmatch(text):
        text = with_port[1] or with_port[2] or ""
    try:
        found = ip_address(text)
    except ValueError:
        return None
    if isinstance(found, IPv6Address):
        return found.ipv4_mapped or IPv6Address(int(found))
    return found


def household(address: Address) -> str:
    """What one subscriber is given: an IPv4 address, or an IPv6 network of 64 bits."""
    return _around(address, 32, 64)


def neighbourhood(address: Address) -> str:
    """What one organisation is given at least: an IPv4 network of 24 bits, or an IPv6 network of 48."""
    return _around(address, 24, 48)


def _around(address: Address, bits_of_4: int, bits_of_6: int) -> str:
    return str(ip_network((address, bits_of_4 if address.version == 4 else bits_of_6), strict=False))
