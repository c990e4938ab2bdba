"""One response of a WSGI application."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

Headers = list[tuple[str, str]]

CHUNK_BYTES = 256 * 1024
"""Bytes sent at once of a long response. Responses of up to twice as many are sent whole."""


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
        self.headers = [(name, _sendable(value)) for name, value in headers]

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


def _sendable(value: str) -> str:
    """Return the header's value. The web server sends ASCII only; other characters become "?"."""
    return value if value.isascii() else value.encode("ascii", "replace").decode()
