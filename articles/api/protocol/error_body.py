"""The body of a failure, and the codes of requests that the web server refuses before they reach the API.

Imports nothing of the site, so that the web server can use it before Django is ready.
"""

from collections.abc import Mapping

REFUSED_BY_SERVER: Mapping[int, str] = {
    400: "bad-request",
    408: "body-too-slow",
    414: "address-too-long",
    431: "headers-too-large",
    500: "internal-error",
    503: "too-many-uploads",
}
"""Codes of the web server's own answers under the API's addresses, by status."""


def error_body(code: str, message: str, details: Mapping[str, str | int] | None = None) -> dict[str, object]:
    """Return the JSON of a failure. `details` are further fields of the error: see `schemas.Error`."""
    return {"error": {"code": code, "message": message, **(details or {})}}
