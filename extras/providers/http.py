"""Requests to providers: bounded in time and size, without redirects, whatever a provider does."""

import http.client
import socket
import ssl
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import BaseAdapter
from requests.structures import CaseInsensitiveDict

from outgoing.wire import Wire

SECONDS = 5.0  # of all requests of one page
MOST_BYTES = 500_000  # of one response with its headers

# Resolving a name has no time limit of its own.
_resolver = ThreadPoolExecutor(4, "providers")


class Exchange(BaseAdapter):
    """The requests of one page, as an adapter of `requests`. Raises its ConnectionError, also for a redirect.

    Environment variables for proxies have no effect; SSL_CERT_FILE adds an authority.
    """

    def __init__(self) -> None:
        super().__init__()
        self._deadline = time.monotonic() + SECONDS

    def send(self, request: requests.PreparedRequest, *_: Any, **_options: Any) -> requests.Response:
        parts = urlsplit(request.url or "")
        try:
            connection = self._connected(parts.hostname or "", parts.port, parts.scheme)
            try:
                answer = self._exchanged(connection, request)
            finally:
                connection.close()
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise requests.ConnectionError(f"{parts.netloc}: {type(error).__name__}: {error}") from error
        if answer.is_redirect or answer.is_permanent_redirect:
            raise requests.ConnectionError(f"{parts.netloc} redirects")
        return answer

    def close(self) -> None:
        """Do nothing: no connection is kept."""

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("too slow")
        return left

    def _connected(self, host: str, port: int | None, scheme: str) -> socket.socket:
        port = port or {"http": 80, "https": 443}[scheme]
        found = _resolver.submit(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM).result(self._left())
        for number, address in enumerate(found, start=1):
            try:
                connection = socket.create_connection((str(address[4][0]), port), self._left())
                break
            except OSError:
                if number == len(found):
                    raise
        if scheme == "http":
            return connection
        try:
            connection.settimeout(self._left())
            return _trust().wrap_socket(connection, server_hostname=host)
        except BaseException:
            connection.close()
            raise

    def _exchanged(self, connection: socket.socket, request: requests.PreparedRequest) -> requests.Response:
        client = http.client.HTTPConnection("")
        client.sock = Wire(connection, self._deadline, MOST_BYTES)
        body = request.body.encode() if isinstance(request.body, str) else None
        headers = {"Host": urlsplit(request.url or "").netloc, **request.headers, "Connection": "close"}
        client.request(request.method or "", request.path_url, body, {k: str(v) for k, v in headers.items()})
        received = client.getresponse()
        answer = requests.Response()
        answer.status_code, answer.request, answer.url = received.status, request, request.url or ""
        answer.headers = CaseInsensitiveDict(received.headers.items())
        answer._content = received.read()  # as `requests` does
        return answer


@cache
def _trust() -> ssl.SSLContext:
    return ssl.create_default_context()


def bounded(session: requests.Session) -> None:
    """Let a session make all its requests in an exchange of its own."""
    session.trust_env = False  # no passwords of ~/.netrc
    session.headers["Accept-Encoding"] = "identity"
    session.adapters = dict.fromkeys(("https://", "http://"), Exchange())
