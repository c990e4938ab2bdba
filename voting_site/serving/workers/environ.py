"""A request's WSGI environment, a response of the application, and the web server's own answers.

The environment is made from the request's own parts only. No header can become a variable that the web server sets
itself: header names get the prefix `HTTP_`, and those with an underscore, which would be mistaken for a dash, are
dropped. The server's own answers go to requests that never reach the application: text, or JSON for the API.
"""

import json
import sys
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from io import BytesIO
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext, gettext_noop
from django.utils.translation.trans_real import parse_accept_lang_header

from articles.domain import other_origins
from articles.domain.other_apis import api_at
from articles.domain.refusals import REFUSED_BY_SERVER, error_body

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]  # a WSGI application

REQUEST_LINE_BYTES = 4094
"""Longest request line: method, address and version. docs/api.md and page tokens rely on it."""

HEADER_BYTES = 32 * 1024  # names and values of all headers together
HEADERS = 100

_WITHOUT_PREFIX = {"content-type": "CONTENT_TYPE", "content-length": "CONTENT_LENGTH"}

_CONSTANT = {
    "GATEWAY_INTERFACE": "CGI/1.1",
    "SCRIPT_NAME": "",
    "wsgi.version": (1, 0),
    "wsgi.multithread": True,
    "wsgi.multiprocess": True,
    "wsgi.run_once": False,
    "wsgi.url_scheme": "http",  # a proxy in front of the site may say another
}


def refusal_of(scope: Any) -> tuple[int, str] | None:
    """Return status and sentence for a request without one host, or whose address or headers are too long."""
    if _line_length(scope) > REQUEST_LINE_BYTES:
        return 414, gettext_noop("The address is too long.")
    headers = scope.headers.items()
    if len(headers) > HEADERS or sum(len(name) + len(value) for name, value in headers) > HEADER_BYTES:
        return 431, gettext_noop("The request has too many or too long headers.")
    if scope.http_version == "1.1" and [name for name, _ in headers].count("host") != 1:
        return 400, gettext_noop("The request does not name exactly one host.")
    return None


def _line_length(scope: Any) -> int:
    around = len(scope.method) + len("  HTTP/1.1") + len(scope.query_string) + bool(scope.query_string)
    if around + 12 * len(scope.path) <= REQUEST_LINE_BYTES:  # a character is at most 4 bytes, each sent as %XX
        return 0
    return around + len(quote(scope.path))


def peer_of(scope: Any) -> str:
    """Return the address of the connected client or proxy."""
    peer: str = scope.client.rpartition(":")[0]
    return peer.strip("[]")


def of(scope: Any, body: bytes) -> dict[str, Any]:
    """Return the environment. The variables are those of PEP 3333."""
    host, _, port = scope.server.rpartition(":")
    variables = _CONSTANT | {
        "REQUEST_METHOD": scope.method,
        "PATH_INFO": scope.path.encode("utf-8", "surrogateescape").decode("latin-1"),
        "QUERY_STRING": scope.query_string,
        "SERVER_PROTOCOL": f"HTTP/{scope.http_version}",
        "SERVER_NAME": host.strip("[]"),
        "SERVER_PORT": port,
        "REMOTE_ADDR": peer_of(scope),
        "wsgi.input": BytesIO(body),
        "wsgi.errors": sys.stderr,
    }
    for name, value in scope.headers.items():
        if "_" in name:
            continue
        variable = _WITHOUT_PREFIX.get(name) or "HTTP_" + name.upper().replace("-", "_")
        variables[variable] = f"{variables[variable]},{value}" if variable in variables else value
    if "HTTP_TRANSFER_ENCODING" in variables and not variables.get("CONTENT_LENGTH"):
        variables["CONTENT_LENGTH"] = str(len(body))
    return variables


Headers = list[tuple[str, str]]

_CLOSE = ("Connection", "close")
CHUNK_BYTES = 256 * 1024  # bytes sent at once of a long response. Responses of up to twice as many are sent whole


class Response:
    """Status, headers and content. All methods run in threads of the pool, one at a time."""

    def __init__(self) -> None:
        self.status = 500
        self.headers: Headers = []
        self._content: Iterable[bytes] = ()
        self._chunks: Iterator[bytes] = iter(())
        self._waiting = b""

    def start(self, application: Callable[..., Iterable[bytes]], environ: dict[str, Any]) -> None:
        self._content = application(environ, self._start_response)
        self._chunks = iter(self._content)

    def _start_response(self, status: str, headers: Headers, _exc_info: Any = None) -> None:
        self.status = int(status[:3])
        # The web server sends ASCII only; other characters become "?".
        self.headers = [(name, value.encode("ascii", "replace").decode()) for name, value in headers]

    def next_bytes(self, at_least: int) -> bytes:
        """Return the next bytes of the content; fewer than `at_least` only at its end."""
        if self._waiting:
            content, self._waiting = self._waiting, b""
            return content
        parts, length = [], 0
        for chunk in self._chunks:
            parts.append(chunk)
            length += len(chunk)
            if length >= at_least:
                break
        return b"".join(parts)

    def put_back(self, content: bytes) -> None:
        """Have `next_bytes` return these bytes next."""
        self._waiting = content

    def close(self) -> None:
        if close := getattr(self._content, "close", None):
            close()


_LONGEST_LANGUAGES = 500  # characters of Accept-Language that are read


def refuse(scope: Any, protocol: Any, status: int, sentence: str, *headers: tuple[str, str]) -> None:
    """Answer without the application, in the client's language, and close the connection."""
    with translation.override(_language(scope)):
        message = gettext(sentence)
    answer: Headers = [_CLOSE, *headers]
    if getattr(settings, "OTHER_ORIGINS", False) and other_origins.is_open(scope.path):
        answer += other_origins.HEADERS
    if scope.path.startswith(other_origins.API):
        code, other = REFUSED_BY_SERVER[status], api_at(scope.path)
        body = other.body_of(code, message, "") if other else error_body(code, message)
        text, kind = json.dumps(body), "application/json"
    else:
        text, kind = f"{message}\n", "text/plain; charset=utf-8"
    protocol.response_str(status, [("Content-Type", kind), *answer], text)


class LastAnswer:
    """The protocol of a request whose answer closes the connection."""

    def __init__(self, protocol: Any) -> None:
        self._protocol = protocol

    def __aiter__(self) -> AsyncIterator[bytes]:
        chunks: AsyncIterator[bytes] = aiter(self._protocol)
        return chunks

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return one of the protocol's ways to answer, `response_…`."""
        answer = getattr(self._protocol, name)
        return lambda status, headers, *content: answer(
            status, [header for header in headers if header != _CLOSE] + [_CLOSE], *content
        )


def _language(scope: Any) -> str:
    """Return the first language of Accept-Language that the site speaks."""
    for code, _ in parse_accept_lang_header((scope.headers.get("accept-language") or "")[:_LONGEST_LANGUAGES]):
        try:
            return translation.get_supported_language_variant(code)
        except LookupError:
            continue
    return "en"
