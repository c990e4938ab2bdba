"""Requests and answers of the web server (RSGI), without a server."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field


class Headers(list):
    """A request's headers, as the server passes them."""

    def items(self):
        return list(self)

    def get(self, name, default=None):
        return dict(self).get(name, default)

    def __contains__(self, name):
        return name in dict(self)


@dataclass
class Scope:
    headers: Headers = field(default_factory=lambda: Headers([("host", "localhost")]))
    method: str = "GET"
    path: str = "/"
    query_string: str = ""
    http_version: str = "1.1"
    server: str = "127.0.0.1:8000"
    client: str = "192.0.2.1:40000"
    scheme: str = "http"


class Protocol:
    """Records what is answered; `chunks` are the body, and the test decides when each arrives."""

    def __init__(self, chunks: Iterable[bytes] = (), then: asyncio.Event | None = None):
        self.chunks, self.then = chunks, then
        self.status, self.headers, self.content = 0, [], b""

    async def __aiter__(self):
        for chunk in self.chunks:
            yield chunk
        if self.then:
            await self.then.wait()

    def response_bytes(self, status, headers, content):
        assert self.status == 0, "answered once"
        self.status, self.headers, self.content = status, headers, content

    def response_empty(self, status, headers):
        self.response_bytes(status, headers, b"")

    def response_str(self, status, headers, content):
        self.response_bytes(status, headers, content.encode())

    def response_stream(self, status, headers):
        self.response_bytes(status, headers, b"")
        return self

    async def send_bytes(self, chunk):
        self.content += chunk
