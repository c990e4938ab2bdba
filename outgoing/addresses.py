"""Which addresses are public: not those of the same machine, of a private network, or of local names."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

# RFC 6761 (localhost), RFC 6762 (local, and the private names of its appendix G), RFC 8375 (home.arpa), and
# internal, which ICANN reserved.
LOCAL_DOMAINS = (
    "localhost", "localdomain", "local", "internal", "intranet", "private", "corp", "home", "lan", "home.arpa",
)  # fmt: skip

_LOCAL_ENDS = tuple(f".{domain}" for domain in LOCAL_DOMAINS)

_GLOBAL_UNICAST = ip_network("2000::/3")  # RFC 4291; outside of it are NAT64, mapped and site-local addresses
_NOT_PUBLIC = tuple(
    map(
        ip_network,
        (
            "192.0.0.0/24", "192.88.99.0/24", "240.0.0.0/4",  # of protocols, 6to4 relays, reserved
            "168.63.129.16/32",  # metadata of Azure's machines
            "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16",  # Teredo, 6to4, examples
        ),
    )
)  # fmt: skip
"""Not public, whatever `is_global` says: it differs between versions of Python."""


def is_private(link: str) -> bool:
    """Return whether a clean link leads to an address or a name that is not public; a damaged one does."""
    try:
        host = (urlsplit(link).hostname or "").removesuffix(".")
    except ValueError:
        return True
    try:
        address = ip_address(host) if ":" in host or host[-1:].isdigit() else None
    except ValueError:
        address = None
    if address is None:
        return "." not in host or f".{host}".endswith(_LOCAL_ENDS)
    return not is_public_address(address)


def is_public_address(address: IPv4Address | IPv6Address) -> bool:
    """Return whether it is a public address of one machine, and has no IPv4 address inside."""
    if isinstance(address, IPv6Address) and address not in _GLOBAL_UNICAST:
        return False
    is_listed = any(address in network for network in _NOT_PUBLIC if network.version == address.version)
    return address.is_global and not address.is_multicast and not is_listed
