"""Links that lead readers into their own network: to this machine, to private addresses and to local names.

The site never fetches a link, and does not resolve names: a public name that has a private address is not noticed.
"""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from articles.text.lines import InvalidInput
from articles.text.links import clean_link

# RFC 6761 (localhost), RFC 6762 (local, and the private names of its appendix G), RFC 8375 (home.arpa), and
# internal, which ICANN reserved.
LOCAL_DOMAINS = (
    *("localhost", "localdomain", "local", "internal", "intranet", "private", "corp", "home", "lan"),
    "home.arpa",
)

_LOCAL_ENDS = tuple(f".{domain}" for domain in LOCAL_DOMAINS)

_NAT64 = ip_network("64:ff9b::/96")  # RFC 6052


def clean_posted_link(raw: str, *, current: str = "", allow_private: bool) -> str:
    """Return the link as `clean_link` does, unless it is private. Raises InvalidInput, also with "link-private".

    `current` is the link of an edited article, which may stay: it can come from an import.
    """
    link = clean_link(raw)
    if link != current and not allow_private and is_private(link):
        raise InvalidInput("link-private")
    return link


def is_private(link: str) -> bool:
    """Return whether a clean link leads to an address or a name that is not public."""
    host = (urlsplit(link).hostname or "").removesuffix(".")
    try:
        address = ip_address(host) if ":" in host or host[-1:].isdigit() else None
    except ValueError:
        address = None
    if address is None:
        return "." not in host or f".{host}".endswith(_LOCAL_ENDS)
    return any(not it.is_global or it.is_multicast for it in (address, *_inner(address)))


def _inner(address: IPv4Address | IPv6Address) -> list[IPv4Address]:
    """Return the IPv4 addresses that routers or systems take from an IPv6 address."""
    if isinstance(address, IPv4Address):
        return []
    inner = [address.ipv4_mapped, address.sixtofour, *(address.teredo or ())]
    if address in _NAT64 or int(address) >> 32 == 0:
        inner.append(IPv4Address(int(address) & 0xFFFFFFFF))
    return [it for it in inner if it is not None]
