"""Bounded requests to what strangers name: each name is resolved once, and that very address is connected.

The fetching process reads pages; background tasks post messages to addresses that members name.
"""

import http.client
import socket
import ssl
import time
import zlib
from collections.abc import Callable, Collection, Mapping, MutableMapping
from dataclasses import dataclass, field
from email.message import Message
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from ada_url import URL
from protego import Protego

from outgoing.addresses import is_private, is_public_address
from outgoing.wire import Wire

SECONDS = 5.0  # of a whole fetch; names that resolve slowly are cut by the process that watches this one
_SECONDS_OF_READING = 1.0  # of those, what is kept for reading the page: what has arrived until then is used
_CONNECT_SECONDS = 2.0  # for one address; a host can have several

MOST_BYTES = 1_000_000  # of one response with its headers, as sent and unpacked; a longer page is read to there
MOST_REDIRECTS = 5
MOST_REQUESTS = 12  # with those for robots.txt
_MOST_ADDRESSES = 3
_PORTS = {"http:": 80, "https:": 443}
_OF_PAGES = {"Accept": "text/html, application/xhtml+xml, text/plain;q=0.5, */*;q=0.1"}
_REDIRECTS = (301, 302, 303, 307, 308)
KEPT_ROBOTS_BYTES = 20_000  # longer files are not kept


class NotFetched(Exception):
    """Why there is no answer; the text is a code that `links.asking` has a sentence for."""


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
    """One fetch. `robots`: rules known of origins, to which it adds; `busy`: hosts that were asked enough.

    `private_hosts`: hosts that may have addresses that are not public, at any port.
    """

    def __init__(
        self,
        world: World,
        user_agent: str,
        *,
        robots: MutableMapping[str, str] | None = None,
        busy: Collection[str] = (),
        private_hosts: Collection[str] = (),
        seconds: float = SECONDS,
    ) -> None:
        self._world, self._user_agent, self._busy = world, user_agent, busy
        self._private_hosts = private_hosts
        self.robots = {} if robots is None else robots
        self.hosts = dict[str, None]()  # the hosts asked, in order
        self._requests = 0
        self._deadline = time.monotonic() + seconds - min(_SECONDS_OF_READING, seconds / 5)

    def get(self, link: str) -> tuple[Answer, str]:
        """Return the answer for a link that robots may read, and its address. Raises NotFetched."""
        if (found := self._followed(checked(link), self._check_robots)) is None:
            raise NotFetched("redirects")
        if found[0].status != 200:
            raise NotFetched("status")
        return found

    def _followed(self, url: URL, check: Callable[[URL], None] | None = None) -> tuple[Answer, str] | None:
        """Return the answer after redirects, and its address; None after too many. `check` sees each address."""
        for _redirect in range(MOST_REDIRECTS + 1):
            if check:
                check(url)
            answer = self._request(url)
            if not (answer.status in _REDIRECTS and answer.headers["Location"]):
                return answer, url.href
            url = checked(_target(answer.headers["Location"]), url)
        return None

    def post(self, address: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Send a body to an https address, and return the answer, a redirect as it is. Raises NotFetched."""
        return self._request(checked(address, private_hosts=self._private_hosts, https=True), headers, body)

    def _check_robots(self, url: URL) -> None:
        """Raise NotFetched if the host's robots.txt forbids the address, or cannot be had (RFC 9309)."""
        origin = f"{url.protocol}//{url.host}"
        if (rules := self.robots.get(origin)) is None:
            rules = self.robots[origin] = self._rules(checked(f"{origin}/robots.txt"))
        if rules and not Protego.parse(rules).can_fetch(url.href, self._user_agent.partition("/")[0]):
            raise NotFetched("robots")

    def _rules(self, url: URL) -> str:
        """Return the rules of a host, "" if it has none."""
        if (found := self._followed(url)) is None:
            return ""
        answer, _address = found
        if answer.status >= 500:
            raise NotFetched("robots")
        return answer.body.decode("utf-8", "replace").lstrip("\ufeff") if answer.status == 200 else ""

    def _request(self, url: URL, headers: Mapping[str, str] = _OF_PAGES, body: bytes | None = None) -> Answer:
        """Request an address, by POST if there is a body, and read up to the bounds. Raises NotFetched."""
        self._requests += 1
        if self._requests > MOST_REQUESTS:
            raise NotFetched("redirects")
        host = url.hostname.removesuffix(".")
        if host not in self.hosts and host in self._busy:
            raise NotFetched("host-busy")
        self.hosts[host] = None
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


def _target(location: str) -> str:
    """Return the address of a redirect: servers send it in UTF-8, and headers are read as Latin-1."""
    return location.encode("latin-1", "replace").decode("utf-8", "replace")


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


def known(robots: Mapping[str, str]) -> dict[str, str]:
    """Return the rules that are short enough to be kept."""
    return {origin: rules for origin, rules in robots.items() if len(rules) <= KEPT_ROBOTS_BYTES}


def host_in(link: str) -> str:
    """Return the host of a clean link, as `Fetch.hosts` has it."""
    return (urlsplit(link).hostname or "").removesuffix(".")
