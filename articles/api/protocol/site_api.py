"""The site's NinjaAPI, with its operations and error handlers."""

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
from articles.domain import extras


class StrictJson(Parser):
    """Parse strict JSON: UTF-8, no duplicate names in an object, no NaN or Infinity."""

    def parse_body(self, request: HttpRequest) -> Any:
        """Return the body's value. Raises ValueError or RecursionError."""
        return json.loads(
            request.body.decode(), object_pairs_hook=_without_duplicates, parse_constant=_refuse_constant
        )


def _without_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("duplicate name")
    return value


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(constant)


class PlainJson(JSONRenderer):
    """Write Chinese unescaped, which halves its size."""

    json_dumps_params = {"ensure_ascii": False, "separators": (",", ":")}


class SiteApi(NinjaAPI):
    """Name operations after their functions."""

    def get_openapi_operation_id(self, operation: Operation) -> str:
        return operation.view_func.__name__


api = SiteApi(
    title="Article voting",
    version="1",
    description=(
        "What the pages can do, for programs. Send a token, which members make on their settings page, as "
        "`Authorization: Bearer avs_…`. Scripts of the site's own pages use the session instead, and send the "
        "page's CSRF token in the header `X-CSRFToken`. Every failure comes as `Failure`. A parameter that an "
        "operation does not have, or that is given twice, is refused with 400; an unknown field of a body is "
        "ignored. A method that an address does not take is answered 405 with `Allow`."
    ),
    urls_namespace="api",
    openapi_url=None,  # articles/api/documentation serves both, in the site's design
    docs_url=None,
    parser=StrictJson(),
    renderer=PlainJson(),
)
_MODULES = (
    "articles.api.lists",
    "articles.api.readership",
    "articles.api.votes",
    "moderation.flags",
    "articles.api.comments",
    "moderation.content",
    "moderation.merges",
    *extras.modules("pages"),
    "moderation.queue",
    "moderation.rules.held",
    "moderation.profiles",
    "moderation.legal_notices",
    "articles.api.search",
    "articles.api.changes",
    "articles.api.ranking",
    "moderation.groups",
    "articles.api.groups",
    "articles.api.my_lists",
    "articles.api.hiding",
    "articles.api.members",
    "articles.api.inbox",
    "moderation.vouches",
    "articles.api.articles",
    "moderation.bans",
    "moderation.statements",
    "moderation.left_out",
    "moderation.subjects",
    "moderation.sweeps",
    "moderation.notes",
    "moderation.log",
    "moderation.redactions",
    "moderation.hosts",
    "moderation.rules.pages",
    *extras.modules("api"),
)
"""Modules with operations, in the order of the documentation."""

for _module in _MODULES:
    import_module(_module)  # registers its operations
router.path_operations = dict(
    sorted(
        router.path_operations.items(),  # in the order of imports, which some of these modules make of each other
        key=lambda row: min(_MODULES.index(one.view_func.__module__) for one in row[1].operations),
    )
)
api.add_router("", router)
for _kind in (Exception, Http404, HttpError, ValidationError):  # else ninja answers the last three itself
    api.exception_handler(_kind)(answer_to)
