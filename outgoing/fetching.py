"""Bounded requests to what strangers name: each name is resolved once, and that very address is connected.

Background tasks post messages to addresses that members name; a process of its own may read pages.
"""

import http.client
import socket
import ssl
import time
import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from email.message import Message
from ipaddress import ip_address
from typing import NamedTuple

from ada_url import URL

from outgoing.addresses import is_private, is_public_address
from outgoing.wire import Wire

SECONDS = 5.0  # of a whole fetch; names that resolve slowly are cut by the process that watches this one
_SECONDS_OF_READING = 1.0  # of those, what is kept for reading the page: what has arrived until then is used
_CONNECT_SECONDS = 2.0  # for one address; a host can have several

MOST_BYTES = 1_000_000  # of one response with its headers, as sent and unpacked; a longer page is read to there
_MOST_ADDRESSES = 3
_PORTS = {"http:": 80, "https:": 443}


class NotFetched(Exception):
    """Why there is no answer; the text is a code, such as slow, tls or not-public."""


class Answer(NamedTuple):
    """A response, as far as it arrived."""

    status: int
    headers: Message
    body: bytes


def resolve(host: bytes, port: int) -> list[str]:
    """Return the addresses of a name. It has no time limit. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_kind, address in found))


@dataclass(frozen=True)
class World:
    """How names are resolved and addresses reached: the tests have one of their own."""

    resolve: Callable[[bytes, int], list[str]] = resolve
    connect: Callable[[tuple[str, int], float], socket.socket] = socket.create_connection
    trust: ssl.SSLContext = field(default_factory=ssl.create_default_context)


class Fetch:
    """One fetch. `private_hosts`: hosts that may have addresses that are not public, at any port."""

    def __init__(
        self, world: World, user_agent: str, *, private_hosts: Collection[str] = (), seconds: float = SECONDS
    ) -> None:
        self._world, self._user_agent, self._private_hosts = world, user_agent, private_hosts
        self._deadline = time.monotonic() + seconds - min(_SECONDS_OF_READING, seconds / 5)

    def post(self, address: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Send a body to an https address, and return the answer, a redirect as it is. Raises NotFetched."""
        return self.request(checked(address, private_hosts=self._private_hosts, https=True), headers, body)

    def request(self, url: URL, headers: Mapping[str, str], body: bytes | None = None) -> Answer:
        """Request an address, by POST if there is a body, and read up to the bounds. Raises NotFetched."""
        try:
            connection = self._connected(url)
            try:
                return self._exchange(connection, url, headers, body)
            finally:
                connection.close()
        except TimeoutError:
            raise NotFetched("slow") from None
        except ssl.SSLError:
            raise NotFetched("tls") from None
        except (http.client.HTTPException, zlib.error, ValueError):
            raise NotFetched("broken") from None
        except OSError:
            raise NotFetched("unreachable") from None

    def _connected(self, url: URL) -> socket.socket:
        """Resolve the host once, and connect to a public address of it. Raises NotFetched, OSError."""
        port = int(url.port or _PORTS[url.protocol])
        name = url.hostname.strip("[]")
        found = self._world.resolve(name.encode(), port)
        addresses = [one for one in found if self._may_reach(url.hostname, one)]
        if not addresses:
            raise NotFetched("not-public" if found else "unreachable")
        for left, address in reversed(list(enumerate(reversed(addresses[:_MOST_ADDRESSES])))):
            seconds = self._deadline - time.monotonic()
            if seconds <= 0:
                raise TimeoutError
            try:
                raw = self._world.connect((address, port), min(seconds, _CONNECT_SECONDS))
                break
            except OSError:
                if not left:
                    raise
        if url.protocol == "http:":
            return raw
        raw.settimeout(max(0.01, self._deadline - time.monotonic()))
        try:
            return self._world.trust.wrap_socket(raw, server_hostname=name.removesuffix("."))
        except BaseException:
            raw.close()
            raise

    def _may_reach(self, host: str, address: str) -> bool:
        return host in self._private_hosts or is_public_address(ip_address(address.partition("%")[0]))

    def _exchange(
        self, connection: socket.socket, url: URL, headers: Mapping[str, str], body: bytes | None
    ) -> Answer:
        client = http.client.HTTPConnection(url.hostname)
        client.sock = Wire(connection, self._deadline, MOST_BYTES)
        own = {"Host": url.host, "User-Agent": self._user_agent, "Accept-Encoding": "gzip", "Connection": "close"}
        method, target = "GET" if body is None else "POST", f"{url.pathname}{url.search}"
        client.request(method, target, body, {**headers, **own})
        response = client.getresponse()
        return Answer(response.status, response.headers, _body(response))


def _body(response: http.client.HTTPResponse) -> bytes:
    """Return the body, unpacked, as far as it arrives in time."""
    packing = (response.headers["Content-Encoding"] or "identity").strip().lower()
    if packing not in ("identity", "gzip", "x-gzip", "deflate"):
        raise NotFetched("broken")
    unpacker = None if packing == "identity" else zlib.decompressobj(zlib.MAX_WBITS | 32)
    body = bytearray()
    try:
        while len(body) < MOST_BYTES and (part := response.read1(65_536)):
            body += unpacker.decompress(part, MOST_BYTES - len(body)) if unpacker else part
            if unpacker and unpacker.eof:
                break
    except (TimeoutError, http.client.HTTPException, OSError, zlib.error):
        if not body:
            raise
    return bytes(body[:MOST_BYTES])


def checked(
    address: str, base: URL | None = None, *, private_hosts: Collection[str] = (), https: bool = False
) -> URL:
    """Return an address that may be requested, only one of https if so demanded. Raises NotFetched."""
    try:
        url = URL(address, base.href) if base else URL(address)
    except ValueError:
        raise NotFetched("broken") from None
    if url.protocol not in _PORTS or url.username or url.password or not url.hostname:
        raise NotFetched("address")
    if url.hostname in private_hosts:
        return url
    if https and url.protocol != "https:":
        raise NotFetched("address")
    if url.port and int(url.port) not in _PORTS.values():
        raise NotFetched("port")
    if is_private(url.href):
        raise NotFetched("not-public")
    return url
