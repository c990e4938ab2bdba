"""Requests whose length the client does not know when it begins to send (`Transfer-Encoding: chunked`).

Django reads as many bytes as `Content-Length` says, none without it. The web server undoes the chunks; this reads
them to the end, or as far as any body may be large, before Django does.
"""

from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def with_whole_bodies(application: Application, at_most: int) -> Application:
    """The application, which gets every body with its length. Of a longer one it gets `at_most` bytes and one."""

    def wrapped(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        ends = environ.get("wsgi.input_terminated")
        if ends and "HTTP_TRANSFER_ENCODING" in environ and not environ.get("CONTENT_LENGTH"):
            body = environ["wsgi.input"].read(at_most + 1)
            environ |= {"wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}
        return application(environ, start_response)

    return wrapped
