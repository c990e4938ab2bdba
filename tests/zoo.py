"""Servers that a link can lead to, without a network: a connection is a pair of sockets and a thread."""

import gzip
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from ipaddress import ip_address

from outgoing.fetching import World

Server = Callable[[socket.socket, str], None]  # answers a request for a path at a connection
_TRUST = ssl.create_default_context()

PUBLIC = "93.184.216.34"
AGENT = "article-voting-site/1.0 (+https://news.example/about/)"


def response(body: bytes, *headers: str, status: str = "200 OK", kind: str = "text/html; charset=utf-8") -> bytes:
    head = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", *headers]
    return "\r\n".join([*head, "", ""]).encode("latin-1") + body


def page(title: str = "A title", *headers: str, **options: str) -> bytes:
    return response(f"<title>{title}</title>".encode(), *headers, **options)


def redirect(address: str, status: str = "302 Found") -> bytes:
    return response(b"", f"Location: {address}", status=status)


def answers(paths: Mapping[str, bytes] | bytes) -> Server:
    """Return a server that answers by the path; other paths are not found."""
    known = {} if isinstance(paths, bytes) else paths
    other = paths if isinstance(paths, bytes) else response(b"", status="404 Not Found")

    def serve(connection: socket.socket, path: str) -> None:
        is_unknown_robots = path == "/robots.txt" and path not in known
        connection.sendall(response(b"", status="404 Not Found") if is_unknown_robots else known.get(path, other))

    return serve


def sends(parts: Iterator[bytes] | Sequence[bytes], pause: float = 0.0) -> Server:
    """Return a server that sends these parts of a response with pauses, also without end."""

    def serve(connection: socket.socket, path: str) -> None:
        if path == "/robots.txt":
            return connection.sendall(response(b"", status="404 Not Found"))
        for part in parts:
            connection.sendall(part)
            time.sleep(pause)
        return None

    return serve


def bomb(size: int) -> bytes:
    """Return the packed page of so many bytes, with a title at its beginning."""
    return gzip.compress(b"<title>A bomb</title>" + b" " * size)


class Zoo:
    """Names and servers. `reached` has every address that was connected, `resolved` every name."""

    def __init__(
        self,
        names: Mapping[str, Sequence[Sequence[str]]],
        servers: Mapping[tuple[str, int], Server],
        certificate: ssl.SSLContext | None = None,
    ) -> None:
        """`names`: the addresses of a host, at each look-up; the last ones stay."""
        self.names = {name: list(found) for name, found in names.items()}
        self.servers, self.certificate = servers, certificate
        self.reached: list[tuple[str, int]] = []
        self.resolved: list[str] = []
        self.requests: list[bytes] = []

    def world(self, trust: ssl.SSLContext | None = None) -> World:
        return World(resolve=self.resolve, connect=self.connect, trust=trust or _TRUST)

    def resolve(self, host: bytes, port: int) -> list[str]:
        name = host.decode()
        self.resolved.append(name)
        with suppress(ValueError):
            return [str(ip_address(name))]
        found = self.names.get(name)
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return list(found.pop(0) if len(found) > 1 else found[0])

    def connect(self, address: tuple[str, int], timeout: float) -> socket.socket:
        self.reached.append(address)
        server = self.servers.get(address)
        if server is None:
            raise ConnectionRefusedError(address)
        ours, theirs = socket.socketpair()
        threading.Thread(target=self._serve, args=(server, theirs, address[1]), daemon=True).start()
        return ours

    def _serve(self, server: Server, connection: socket.socket, port: int) -> None:
        """Answer one request, behind a certificate at port 443 if there is one."""
        with suppress(OSError, ValueError), connection:
            if port == 443 and self.certificate:
                connection = self.certificate.wrap_socket(connection, server_side=True)
            self.answer(server, connection)

    def answer(self, server: Server, connection: socket.socket) -> None:
        """Answer one request."""
        with suppress(OSError, ValueError), connection:
            request = b""
            while b"\r\n\r\n" not in request:
                if not (part := connection.recv(65_536)):
                    return
                request += part
            head, _, body = request.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            while length and len(body) < int(length[1]) and (part := connection.recv(65_536)):
                body += part
            self.requests.append(request)
            server(connection, request.split(b" ")[1].decode())
            connection.shutdown(socket.SHUT_WR)
