"""The one NinjaAPI, with the endpoints and the way failures are answered."""

import json
from importlib import import_module
from typing import Any, NoReturn

from django.http import Http404, HttpRequest
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.operation import Operation
from ninja.parser import Parser
from ninja.renderers import JSONRenderer

from articles.api.protocol.operations import router
from articles.api.protocol.problems import answer_to


class StrictJson(Parser):
    """Reads what is JSON by its standard: one spelling of each object, no NaN, nothing guessed."""

    def parse_body(self, request: HttpRequest) -> Any:
        """The body's value. Raises ValueError, RecursionError."""
        return json.loads(request.body.decode(), object_pairs_hook=_unambiguous, parse_constant=_refuse)


def _unambiguous(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice")
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


class PlainJson(JSONRenderer):
    """Chinese as it is: half the size of its escapes."""

    json_dumps_params = {"ensure_ascii": False, "separators": (",", ":")}


class SiteApi(NinjaAPI):
    """Operations are named by their functions."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__


api = SiteApi(
    title="Article voting",
    version="1",
    description=(
        "What the pages can do, for programs. Send a personal token, made on the settings page, as "
        "`Authorization: Bearer avs_…`. Scripts of the site's own pages use the session instead, and send the "
        "page's CSRF token in the header `X-CSRFToken`. Every failure comes as `Failure`. A parameter that an "
        "operation does not have, or that is given twice, is refused with 400; an unknown field of a body is "
        "ignored. A method that an address does not take is answered 405 with `Allow`."
    ),
    urls_namespace="api",
    openapi_url=None,  # documentation.py serves both, in the site's own look
    docs_url=None,
    parser=StrictJson(),
    renderer=PlainJson(),
)
for _noun in ("lists", "search", "readership", "votes", "ranking", "my_lists", "groups", "articles"):
    import_module(f"articles.api.{_noun}")  # registers its operations; the documentation has them in this order
api.add_router("", router)
for _kind in (Exception, Http404, HttpError, ValidationError):  # ninja answers the latter three itself otherwise
    api.exception_handler(_kind)(answer_to)
