"""A visitor of the public site: TLS, cookies as a browser keeps them, an address of their own on this machine."""

import http.client
import re
import socket
import ssl
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

HOST = "news.example.org"


@dataclass
class Answer:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def cached(self) -> str:
        """What the proxy's cache did: HIT, MISS, EXPIRED or BYPASS."""
        return self.headers.get("X-Cache-Status", "")


@dataclass
class Visitor:
    """`authority`: the certificate to trust; without one, the visitor speaks plain HTTP."""

    port: int
    authority: Path | None
    address: str = "127.0.0.1"
    cookies: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, headers={name.replace("_", "-"): text for name, text in headers.items()})

    def send(self, page: str, **fields: str) -> Answer:
        """Send the page's form to its own address."""
        form = re.search(r'name="csrfmiddlewaretoken" value="([^"]*)"', self.get(page).text)
        assert form, f"no form on {page}"
        body = urllib.parse.urlencode(fields | {"csrfmiddlewaretoken": form[1]}).encode()
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Origin": f"https://{HOST}",
            "Referer": f"https://{HOST}{page}",
        }
        return self.ask("POST", page, body, headers)

    def ask(self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] = {}) -> Answer:
        connection = self._connection()
        own = {"Cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        try:
            connection.request(method, path, body, {**(own if self.cookies else {}), **headers})
            response = connection.getresponse()
            answer = Answer(response.status, response.headers, response.read())
        finally:
            connection.close()
        self._keep_cookies(answer)
        return answer

    def _connection(self) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection(HOST, timeout=60)
        if self.authority:
            context = ssl.create_default_context(cafile=str(self.authority))
            connection = http.client.HTTPSConnection(HOST, timeout=60, context=context)
        here = ("127.0.0.1", self.port)
        connection._create_connection = lambda *_: socket.create_connection(here, 60, (self.address, 0))
        return connection

    def _keep_cookies(self, answer: Answer) -> None:
        for line in answer.headers.get_all("Set-Cookie", []):
            name, _, value = line.partition(";")[0].partition("=")
            assert "; Secure" in line or "; Max-Age=0" in line or not self.authority, line
            self.cookies[name] = value
