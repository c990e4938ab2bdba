"""Build the OpenAPI document from what the operations declare and what applies to all of them."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from articles.api.protocol.problems import MEANINGS, Meaning
from articles.api.protocol.site_api import api

Json = Mapping[str, Any]

SCHEMAS = "#/components/schemas/"

_CONVERTER = re.compile("<(?:[^:>]+:)?([^>]+)>")

_FAILURE: Json = {"content": {"application/json": {"schema": {"$ref": f"{SCHEMAS}Failure"}}}}
_LIMITED: Json = {
    **_FAILURE,
    "headers": {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}},
}
_COMMON_RESPONSES: Json = dict.fromkeys(("408", "414", "431", "500"), _FAILURE) | {"429": _LIMITED}
"""Responses of every operation, which none declares: limits, errors, and refusals of the web server."""


@cache
def document() -> Json:
    """Return the OpenAPI document, in English."""
    spec: dict[str, Any] = _with_plain_references(json.loads(json.dumps(api.get_openapi_schema())))
    for _path, _method, operation in operations(spec):
        for parameter in operation["parameters"]:
            parameter.pop("examples", None)  # they are in its schema too; here OpenAPI wants a map
        operation["responses"] |= {status: dict(response) for status, response in _COMMON_RESPONSES.items()}
        for status, response in operation["responses"].items():
            if meaning := MEANINGS.get(int(status)):
                response["description"] = meaning.text + _codes(meaning)
    schemas, used = spec["components"]["schemas"], _used_schemas(spec)
    spec["components"]["schemas"] = {name: schemas[name] for name in schemas if name in used}
    return spec


def operations(spec: Json) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield the path, the method in lower case and the description of each operation of a document."""
    for path, methods in spec["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def query_parameters(route: str, method: str) -> frozenset[str] | None:
    """Return the names of an operation's query parameters; None if there is no operation at Django's `route`."""
    path = "/" + _CONVERTER.sub(r"{\1}", route)
    operation = document()["paths"].get(path, {}).get(method.lower())
    if operation is None:
        return None
    return frozenset(item["name"] for item in operation["parameters"] if item["in"] == "query")


def _codes(meaning: Meaning) -> str:
    return f" Codes: {', '.join(meaning.codes)}." if meaning.codes else ""


def _with_plain_references(value: Any) -> Any:
    """Replace each `allOf` of a single schema, which client generators read as a new object.

    In OpenAPI 3.1 a reference may have siblings, such as a default. ninja also copies the schema it refers to into
    parameters; the title of the copy names it.
    """
    if isinstance(value, list):
        return [_with_plain_references(item) for item in value]
    if not isinstance(value, dict):
        return value
    plain = {name: _with_plain_references(one) for name, one in value.items()}
    match plain.get("allOf"):
        case [{"$ref": str(reference)}]:
            plain["$ref"] = reference
        case [{"title": str(title)}]:
            plain["$ref"] = SCHEMAS + title
        case _:
            return plain
    del plain["allOf"]
    return plain


def _used_schemas(spec: Json) -> frozenset[str]:
    """Return the names of the schemas that the operations refer to, directly or through others."""
    schemas, used = spec["components"]["schemas"], set[str]()
    pending = _references(spec["paths"])
    while pending:
        used |= pending
        pending = set[str]().union(*(_references(schemas[name]) for name in pending)) - used
    return frozenset(used)


def _references(value: Any) -> set[str]:
    return set(re.findall(rf'"\$ref": "{SCHEMAS}([^"]+)"', json.dumps(value)))
