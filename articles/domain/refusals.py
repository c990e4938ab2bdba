"""The table of refusals, which `errors` fills: by status in the store, by error, by code of the API.

The repository raises, the API and the pages answer, and the metrics count by it.
"""

from collections.abc import Mapping

from articles.domain import extras
from articles.domain.errors import GENERIC_CODE, REFUSALS, ArticlesError, Refusal

extras.refusals()  # whose errors add themselves to the table

_YIELDED = ("merged", "newer")
"""Statuses with which a script yields to an earlier change: no error, but counted among the refusals."""

BY_STATUS = {row.status: row for row in REFUSALS if row.status}
CAUSES = {*BY_STATUS, *_YIELDED} - {"gone", "limited", "archived"}
"""Statuses of scripts that are labels of `site_refusals_total`. Stable: dashboards use them."""

_BY_ERROR = {row.error: row for row in REFUSALS}


def refusal_of(error: ArticlesError) -> Refusal:
    """Return the row of an error."""
    return _BY_ERROR[type(error)]


def codes(http: int) -> tuple[str, ...]:
    """Return the codes that the API documents for an HTTP status, each once."""
    return tuple(dict.fromkeys(row.code for row in REFUSALS if row.http == http and row.code != GENERIC_CODE))


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
