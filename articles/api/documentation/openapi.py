"""The OpenAPI document: what the operations declare, and what holds for all of them."""

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
_ANYWHERE: Json = {"414": {}, "500": _FAILURE}
"""Responses of every operation, which none declares. 414 comes from the web server, which does not speak JSON."""


@cache
def document() -> Json:
    """Return the OpenAPI document, in English."""
    found: dict[str, Any] = _with_plain_references(json.loads(json.dumps(api.get_openapi_schema())))
    for _path, _method, operation in operations(found):
        for parameter in operation["parameters"]:
            parameter.pop("examples", None)  # stands in its schema; here it would have to be a map
        operation["responses"] |= {status: dict(response) for status, response in _ANYWHERE.items()}
        for status, response in operation["responses"].items():
            if meaning := MEANINGS.get(int(status)):
                response["description"] = meaning.text + _codes(meaning)
    schemas, used = found["components"]["schemas"], _used_schemas(found)
    found["components"]["schemas"] = {name: schemas[name] for name in schemas if name in used}
    return found


def operations(found: Json) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Path, method in lower case and description of each operation of a document."""
    for path, methods in found["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def query_parameters(route: str, method: str) -> frozenset[str] | None:
    """Names of an operation's query parameters; `route` is Django's. None if there is no such operation."""
    path = "/" + _CONVERTER.sub(r"{\1}", route)
    operation = document()["paths"].get(path, {}).get(method.lower())
    if operation is None:
        return None
    return frozenset(one["name"] for one in operation["parameters"] if one["in"] == "query")


def _codes(meaning: Meaning) -> str:
    return f" Codes: {', '.join(meaning.codes)}." if meaning.codes else ""


def _with_plain_references(value: Any) -> Any:
    """Replace each `allOf` of a single schema, which generators of clients read as a new object.

    In OpenAPI 3.1 a reference may have siblings, such as a default. ninja also copies the schema it refers to into
    parameters; its title says which one it is.
    """
    if isinstance(value, list):
        return [_with_plain_references(one) for one in value]
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


def _used_schemas(found: Json) -> frozenset[str]:
    """Names of the schemas that the operations refer to, directly or through others."""
    schemas, used = found["components"]["schemas"], set[str]()
    waiting = _references(found["paths"])
    while waiting:
        used |= waiting
        waiting = set[str]().union(*(_references(schemas[name]) for name in waiting)) - used
    return frozenset(used)


def _references(value: Any) -> set[str]:
    return set(re.findall(rf'"\$ref": "{SCHEMAS}([^"]+)"', json.dumps(value)))
