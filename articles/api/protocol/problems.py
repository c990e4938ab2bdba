"""Failures of the API. The body of each is `{"error": {"code", "message"}}`.

Codes are stable, messages are in the reader's language.
"""

import logging
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from django.core.exceptions import BadRequest, PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.utils.translation import gettext as _, gettext_noop
from ninja.errors import AuthenticationError, HttpError, ValidationError

from articles.domain import errors
from articles.domain.refusals import REFUSED_BY_SERVER, codes, error_body, refusal_of
from articles.formatting.values import listed
from articles.operation import outages
from articles.text.lines import InvalidInput
from articles.text.messages import INPUT
from articles.text.refusals import action_sentence, input_sentence
from articles.web import limits
from articles.web.error_pages import RETRY_AFTER

_log = logging.getLogger(__name__)


class Meaning(NamedTuple):
    """The meaning of a status in this API, and its codes."""

    text: str
    codes: tuple[str, ...]


MEANINGS = {
    400: Meaning(
        "The request is not valid.",
        (
            "invalid", "unknown-parameter", "invalid-json", "bad-request",
            "unknown-group", "too-many-groups", "group-title-no-address",
            *INPUT,
        ),
    ),
    401: Meaning("You are not logged in, or the token is not valid.", ("login-required", "bad-token")),
    403: Meaning("You may not do this, or the CSRF token is missing.", (*codes(403), "missing-scope", "csrf")),
    404: Meaning("It does not exist.", ("not-found", *codes(404), "group-moved")),
    405: Meaning("This address does not accept the method.", ("method-not-allowed",)),
    408: Meaning("The body took too long to arrive.", (REFUSED_BY_SERVER[408],)),
    409: Meaning("The current state does not allow it.", codes(409)),
    410: Meaning("What follows is no longer known.", ("changes-lost",)),
    413: Meaning("The body is too large.", ("body-too-large",)),
    414: Meaning("The address is longer than 4,094 bytes.", (REFUSED_BY_SERVER[414],)),
    415: Meaning("The body must be JSON in UTF-8.", ("unsupported-media-type",)),
    429: Meaning("Too many requests. The response says how many seconds to wait.", codes(429)),
    431: Meaning("There are too many headers, or they are too long.", (REFUSED_BY_SERVER[431],)),
    500: Meaning("Something went wrong on our side.", ("internal-error",)),
    503: Meaning("The store cannot be reached; try again later.", (*codes(503), REFUSED_BY_SERVER[503])),
}  # fmt: skip
"""Every failure of the API, by status."""


class Problem(Exception):
    """A failure, with the status, the code and the message of its response."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        details: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """`details` are further fields of the error: see `schemas.Error`."""
        super().__init__(code)
        self.status, self.code, self.message = status, code, message
        self.details = details or {}
        self.headers = headers or {}

    @property
    def answer(self) -> HttpResponse:
        body, plain = error_body(self.code, self.message, self.details), {"ensure_ascii": False}
        return JsonResponse(body, status=self.status, headers=self.headers, json_dumps_params=plain)


def login_required() -> Problem:
    return Problem(401, "login-required", _("Send a token, or log in."), headers={"WWW-Authenticate": "Bearer"})


def not_found() -> Problem:
    return Problem(404, "not-found", _("There is nothing at this address."))


def failed() -> Problem:
    return Problem(500, "internal-error", _("Something went wrong on our side. It has been logged."))


def answer_to(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Return the response to an exception. Details of an unexpected one go to the log only."""
    if isinstance(exception, errors.StoreUnconfirmed) and request.method in ("GET", "HEAD"):
        exception = errors.StoreUnavailable(str(exception))  # nothing was to be saved
    problem = exception if isinstance(exception, Problem) else _problem_of(exception)
    if isinstance(exception, errors.LimitReached):
        limits.note(request, exception.limit)
    if problem.status == 503:
        outages.report(exception)
    elif problem.status == 500:
        _log.error("%s: %s", problem.code, request.path, exc_info=exception)
    return problem.answer


def _problem_of(exception: Exception) -> Problem:
    match exception:
        case InvalidInput():
            problem = Problem(400, exception.code, input_sentence(exception))
        case errors.ArticlesError():
            problem = _refusal(exception)
        case OperationalError() | InterfaceError():
            problem = _unavailable(
                _("The site cannot reach its accounts right now. Please try again in a moment.")
            )
        case ValidationError():
            problem = Problem(400, "invalid", _validation_message(exception.errors[0]))
        case AuthenticationError():
            problem = login_required()
        case PermissionDenied():
            problem = Problem(403, errors.FORBIDDEN, _("You are not allowed to do this."))
        case Http404():
            problem = not_found()
        case _:
            problem = _unreadable(exception)
    return problem


def _refusal(error: errors.ArticlesError) -> Problem:
    details: dict[str, str | int] = {}
    match error:
        case errors.GroupNotFound(moved_to=str(into)):
            message = _("The group was merged into “%(into)s”.") % {"into": into}
            return Problem(404, "group-moved", message, details={"moved_to": into})
        case errors.DuplicateLink(article_id=int(other)):
            details = {"article_id": other}
        case errors.StoreError():
            return _unavailable(action_sentence(error), refusal_of(error).code)
    row = refusal_of(error)
    headers = {"Retry-After": str(error.retry_after)} if isinstance(error, errors.LimitReached) else {}
    return Problem(row.http, row.code, action_sentence(error), details=details, headers=headers)


def _unavailable(message: str, code: str = "unavailable") -> Problem:
    return Problem(503, code, message, headers={"Retry-After": str(RETRY_AFTER)})


def _unreadable(exception: Exception) -> Problem:
    """Return the problem of a request that cannot be read; 500 for any other exception."""
    match exception:
        case RequestDataTooBig():
            return Problem(413, "body-too-large", _("The body is too large."))
        case HttpError(status_code=400):
            message = _(
                "The body is not valid JSON: send one value in UTF-8, without duplicate names in an object."
            )
            return Problem(400, "invalid-json", message)
        case SuspiciousOperation() | BadRequest() | UnreadablePostError() | MultiPartParserError():
            return Problem(400, "bad-request", _("The request cannot be read."))
    return failed()


_VALIDATION = {
    "missing": gettext_noop("“%(field)s” is missing."),
    "string_type": gettext_noop("“%(field)s” must be text."),
    "string_too_long": gettext_noop("“%(field)s” is too long. The limit is %(max_length)s characters."),
    "int_type": gettext_noop("“%(field)s” must be a whole number."),
    "float_type": gettext_noop("“%(field)s” must be a number."),
    "list_type": gettext_noop("“%(field)s” must be a list."),
    "too_long": gettext_noop("“%(field)s” has too many items. The limit is %(max_length)s."),
    "less_than_equal": gettext_noop("“%(field)s” is too high. The maximum is %(le)s."),
    "literal_error": gettext_noop("“%(field)s” must be one of these: %(expected)s."),
    "enum": gettext_noop("“%(field)s” must be one of these: %(expected)s."),
    "value_error": gettext_noop("“%(field)s” must be a whole number, 1 or more."),
    "bool_type": gettext_noop("“%(field)s” must be true or false."),
}
_INVALID = gettext_noop("“%(field)s” is not valid.")
_QUOTED = re.compile("'([^']*)'")


def _validation_message(error: dict[str, Any]) -> str:
    """Return a validation error as a sentence that names the field."""
    field, bounds = _field(error["loc"]), error.get("ctx", {})
    if not field:
        return _("The body must be a JSON object.")
    if "expected" in bounds:  # 'score', 'time' or 'hot'
        bounds = bounds | {"expected": listed(_QUOTED.findall(bounds["expected"]))}
    return _(_VALIDATION.get(error["type"], _INVALID)) % {"field": field, **bounds}


def _field(location: tuple[Any, ...]) -> str:
    """Return `groups.0` for ("body", "article", "groups", 0); "article" is the parameter of the view."""
    source, *parts = location
    return ".".join(map(str, parts[1:] if source == "body" else parts[-1:]))
