"""The API's documentation: an OpenAPI document, built from the operations, and a page made from it."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import override
from django.views.decorators.http import require_safe
from markupsafe import escape
from ninja.openapi.schema import OpenAPISchema
from ninja.operation import Operation

from articles.api.protocol.problems import MEANINGS
from articles.api.protocol.site_api import api
from articles.configuration.choices import site_address
from articles.domain import extras
from articles.formatting.kept import piece

Json = Mapping[str, Any]

SCHEMAS = "#/components/schemas/"

_CONVERTER = re.compile("<(?:[^:>]+:)?([^>]+)>")

_WRAPPED = re.compile(r"(?<=[^\n])\n(?=[^\n])")  # the end of a line of a docstring, within a paragraph
_FAILURE: Json = {"content": {"application/json": {"schema": {"$ref": f"{SCHEMAS}Failure"}}}}
_LIMITED: Json = {
    **_FAILURE,
    "headers": {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}},
}
_COMMON_RESPONSES: Json = dict.fromkeys(("408", "414", "431", "500"), _FAILURE) | {"429": _LIMITED}
"""Responses of every operation, which none declares: limits, errors, and refusals of the web server."""


_TAGS: dict[str, str] = {
    "articles": "Articles and their lists: reading, posting, voting, saving, flagging, suggesting, moderating.",
    "automatic-rules": "Rules that act on what members post.",
    "blocked-hosts": "Hosts whose links cannot be posted.",
    "changes": "What changed since a moment, for mirrors.",
    "comments": "Comments: reading, editing, voting, flagging, moderating.",
    "groups": "Groups, their moderators and bans.",
    "held": "Posts that wait for moderators.",
    "hot": "The hot list.",
    "inbox": "Notices.",
    "log": "The log of moderation.",
    "me": "The member who asks: lists, settings, statements.",
    "posted-before": "Articles that were posted with the same link.",
    "queue": "What waits for moderators.",
    "removed": "What was removed.",
    "search": "Search for articles and comments.",
    "users": "Members: profiles, vouches, flags, bans, notes.",
    "views": "Counting views.",
}
"""What operations are grouped by: the first part of their path."""

for _module in (*extras.modules("pages"), *extras.modules("api")):
    _TAGS |= getattr(import_module(_module), "TAGS", {})


@cache
def document() -> Json:
    """Return the OpenAPI document, in English."""
    spec: dict[str, Any] = _with_plain_references(json.loads(json.dumps(api.get_openapi_schema())))
    spec["servers"] = [{"url": "/"}]
    spec["info"] |= {
        "contact": {"name": "The operator of the site"},
        "license": {"name": "MIT", "identifier": "MIT"},
    }
    spec["tags"] = [{"name": name, "description": text} for name, text in sorted(_TAGS.items())]
    for path, _method, operation in operations(spec):
        operation["tags"] = [path.split("/")[2]]
        for parameter in operation["parameters"]:
            parameter.pop("examples", None)  # they are in its schema too; here OpenAPI wants a map
        operation["responses"] |= {status: dict(response) for status, response in _COMMON_RESPONSES.items()}
        for status, response in operation["responses"].items():
            if meaning := MEANINGS.get(int(status)):
                response["description"] = meaning.text + (
                    f" Codes: {', '.join(meaning.codes)}." if meaning.codes else ""
                )
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
    return _query_parameters().get(path, {}).get(method.lower())


@cache
def _query_parameters() -> Mapping[str, Mapping[str, frozenset[str]]]:
    """Return the names of query parameters by path and method."""
    return _OnlyParameters(api, api.get_root_path({}))["paths"]  # type: ignore[no-any-return]


class _OnlyParameters(OpenAPISchema):
    """What an operation takes, without what it returns: the whole document takes each process nearly a second."""

    def operation_details(self, operation: Operation) -> Any:
        parameters = self.operation_parameters(operation)
        return frozenset(one["name"] for one in parameters if one["in"] == "query")


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
    if isinstance(text := plain.get("description"), str):
        plain["description"] = _WRAPPED.sub(" ", text)
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


_SITE = "https://site.invalid"  # stands for the site's address in the examples


@require_safe
def openapi(_request: HttpRequest) -> HttpResponse:
    return HttpResponse(_document_as_json(), content_type="application/json", headers={"Content-Language": "en"})


@cache
def _document_as_json() -> str:
    return json.dumps(document(), ensure_ascii=False, indent=1)


@require_safe
def docs(request: HttpRequest) -> HttpResponse:
    """Return the documentation as a page that needs no script. It is in English, within a page in any language."""
    with override("en"):  # drawn once
        reference = piece("api/reference.html", {}, endpoints=endpoints, shapes=shapes, failures=failures)
    context = {"reference": reference.replace(_SITE, escape(site_address(request)))}
    return render(request, "api/documentation.html", context)


class Field(NamedTuple):
    """A parameter, or a field of an object. `place` is path, query, or body."""

    name: str
    place: str
    type: str
    required: bool
    text: str


def endpoints() -> Iterator[Json]:
    """Yield every operation, with what the page says of it: see `templates/api/reference.html`."""
    for path, method, operation in operations(document()):
        fields = list(map(_parameter, operation["parameters"]))
        if "requestBody" in operation:
            fields += _properties(_schema(_component(operation["requestBody"])), "body")
        yield operation | {
            "method": method.upper(),
            "path": path,
            "needs_login": {} not in operation["security"],
            "fields": fields,
            "answers": [_answer(int(status), answer) for status, answer in operation["responses"].items()],
            "example": _example(f"{_SITE}{path}", method.upper(), operation),
        }


def shapes() -> Iterator[tuple[str, str, list[Field]]]:
    """Yield the name, the description and the fields of every object that responses are made of."""
    request_bodies = {
        _component(operation["requestBody"])
        for _path, _method, operation in operations(document())
        if "requestBody" in operation
    }
    for name, schema in sorted(document()["components"]["schemas"].items()):
        if "properties" in schema and name not in request_bodies:
            yield name, schema["description"], list(_properties(schema, ""))


def failures() -> Iterator[tuple[int, str, tuple[str, ...]]]:
    """Yield every status of an error, with what it means and its codes."""
    return ((status, meaning.text, meaning.codes) for status, meaning in MEANINGS.items())


def _component(holder: Json) -> str:
    """Return the name of the object in the body of a request or response."""
    reference: str = holder["content"]["application/json"]["schema"]["$ref"]
    return reference.rsplit("/", 1)[-1]


def _schema(name: str) -> Json:
    schema: Json = document()["components"]["schemas"][name]
    return schema


def _parameter(parameter: Json) -> Field:
    kind, text = _type(parameter["schema"]), parameter.get("description", "")
    return Field(parameter["name"], parameter["in"], kind, parameter["required"], text)


def _properties(schema: Json, place: str) -> Iterator[Field]:
    for name, details in schema["properties"].items():
        required = name in schema.get("required", ())
        yield Field(name, place, _type(details), required, details.get("description", ""))


def _type(schema: Json) -> str:
    """Return a type in words: its name in JSON, its possible values, or the name of an object."""
    match schema:
        case {"$ref": str(reference)}:
            name = reference.rsplit("/", 1)[-1]
            return _type(_schema(name)) if "enum" in _schema(name) else name
        case {"enum": values}:
            return " | ".join(values)
        case {"anyOf": choices} | {"allOf": choices}:
            return " | ".join(map(_type, choices))
        case {"type": "array", "items": items}:
            return f"list of {_type(items)}"
    return str(schema["type"])


def _answer(status: int, answer: Json) -> tuple[int, str, str]:
    """Return a status that an endpoint can return, its meaning, and the object in the body; "" without one."""
    shape, meaning = _component(answer) if "content" in answer else "", MEANINGS.get(status)
    return status, meaning.text if meaning else _schema(shape)["description"], shape


def _example(address: str, method: str, operation: Json) -> str:
    """Return a call with curl, with all parameters that have an example."""
    query = {}
    for parameter in operation["parameters"]:
        for value in parameter["schema"].get("examples", ())[:1]:
            if parameter["in"] == "path":
                address = address.replace(f"{{{parameter['name']}}}", str(value))
            else:
                query[parameter["name"]] = value
    parts = ["curl", *([] if method == "GET" else ["-X", method])]
    lines = [" ".join([*parts, shlex.quote(f"{address}?{urlencode(query)}" if query else address)])]
    lines.append("-H 'Authorization: Bearer avs_…'")
    if "requestBody" in operation:
        fields = _schema(_component(operation["requestBody"]))["properties"]
        body = {name: details["examples"][0] for name, details in fields.items() if "examples" in details}
        lines += ["-H 'Content-Type: application/json'", f"-d {shlex.quote(json.dumps(body, ensure_ascii=False))}"]
    return " \\\n  ".join(lines)
