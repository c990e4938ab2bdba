"""Find the client's address for a request, and the network that it belongs to."""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from hashlib import blake2b
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest

from accounts.models import MemberSession

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

UNIX = "unix"  # name of a proxy that connects by a Unix socket, which has no address
_WITH_PORT = re.compile(r"\[([^\]]*)\](?::[0-9]{1,5})?|([0-9.]+):[0-9]{1,5}")


class Proxies(NamedTuple):
    """The proxies whose X-Forwarded-For entries are trusted."""

    networks: tuple[Network, ...] = ()
    unix: bool = False

    @classmethod
    def named(cls, names: Iterable[str]) -> "Proxies":
        """Build from addresses, networks and `UNIX`. Raises ValueError, also for host bits in a network."""
        known = tuple(names)
        return cls(tuple(ip_network(name) for name in known if name != UNIX), UNIX in known)

    def trusts(self, address: Address) -> bool:
        return any(address in network for network in self.networks)

    def trusts_peer(self, remote: str, address: Address | None) -> bool:
        """Return whether the connected peer is a trusted proxy; `address` is `remote`, parsed."""
        return self.trusts(address) if address else self.unix and not remote


def client_address(remote: str, forwarded: str, proxies: Proxies) -> Address | None:
    """Return the nearest address that is not a trusted proxy's; None if the peer's own cannot be parsed.

    `remote` is the peer's address, "" over a Unix socket; `forwarded` is the header X-Forwarded-For, to which each
    proxy appends on the right. Entries to the left of an untrusted or malformed one may be forged and are ignored.
    """
    nearest = read_address(remote)
    if not proxies.trusts_peer(remote, nearest):
        return nearest
    for entry in reversed(forwarded.split(",")):
        address = read_address(entry)
        if address is None:
            break
        nearest = address
        if not proxies.trusts(address):
            break
    return nearest


def read_address(text: str) -> Address | None:
    """Parse an address with an optional port, or return None. Drops the zone; returns IPv4-mapped IPv6 as IPv4."""
    text = text.strip()
    if with_port := _WITH_PORT.fullmatch(text):
        text = with_port[1] or with_port[2] or ""
    try:
        address = ip_address(text)
    except ValueError:
        return None
    if isinstance(address, IPv6Address):
        return address.ipv4_mapped or IPv6Address(int(address))
    return address


def household(address: Address) -> str:
    """Return the network that one subscriber has: an IPv4 address, or a /64 of IPv6."""
    return _network_of(address, 32, 64)


def neighbourhood(address: Address) -> str:
    """Return the smallest network that one organisation has: a /24 of IPv4, or a /48 of IPv6."""
    return _network_of(address, 24, 48)


def provider(address: Address) -> str:
    """Return the network that one provider has at least: a /16 of IPv4, or a /32 of IPv6."""
    return _network_of(address, 16, 32)


def _network_of(address: Address, ipv4_bits: int, ipv6_bits: int) -> str:
    bits = ipv4_bits if address.version == 4 else ipv6_bits
    free = address.max_prefixlen - bits
    return f"{type(address)(int(address) >> free << free)}/{bits}"


def address_of(request: HttpRequest) -> Address | None:
    """Return the client's address, as far as the trusted proxies tell it; None if it cannot be read."""
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "")
    return client_address(request.META.get("REMOTE_ADDR", ""), forwarded, _proxies(*settings.TRUSTED_PROXIES))


@receiver(user_logged_in)
def note_network(request: HttpRequest, **_signal: Any) -> None:
    """Note where a session began, roughly, for the list of a member's sessions."""
    address = address_of(request)
    session = MemberSession.objects.filter(session_key=request.session.session_key)
    session.update(network=neighbourhood(address) if address else "")


def network_of(address: Address | None, width: Callable[[Address], str]) -> str:
    """Return the digest of a client's network; clients without an address, behind unknown proxies, share one."""
    return digest("limit", "network", "" if address is None else width(address))


def digest(*parts: str) -> str:
    """Return a keyed digest of 16 hex digits. Other parts, or the same text split elsewhere, give another one."""
    keyed_hash = blake2b(key=_key(settings.SECRET_KEY), digest_size=8)
    for part in parts:
        raw = part.encode("utf-8", "surrogatepass")
        keyed_hash.update(len(raw).to_bytes(4, "big") + raw)
    return keyed_hash.hexdigest()


@lru_cache(maxsize=1)
def _proxies(*names: str) -> Proxies:
    return Proxies.named(names)


@lru_cache(maxsize=1)
def _key(secret: str) -> bytes:
    return blake2b(secret.encode(), person=b"articles.visitor", digest_size=32).digest()
