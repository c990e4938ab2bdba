"""Support request bodies of unknown length (`Transfer-Encoding: chunked`).

Django reads as many bytes as `Content-Length` says, and none without it. The web server decodes the chunks. This
wrapper reads the whole body, up to the maximum size, and sets its length before Django reads it.
"""

from collections.abc import Callable, Iterable
from io import BytesIO
from typing import Any

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def with_whole_bodies(application: Application, at_most: int) -> Application:
    """Wrap the application so that every body has a length. Longer ones are cut one byte above `at_most` bytes."""

    def wrapped(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        ends = environ.get("wsgi.input_terminated")
        if ends and "HTTP_TRANSFER_ENCODING" in environ and not environ.get("CONTENT_LENGTH"):
            body = environ["wsgi.input"].read(at_most + 1)
            environ |= {"wsgi.input": BytesIO(body), "CONTENT_LENGTH": str(len(body))}
        return application(environ, start_response)

    return wrapped
