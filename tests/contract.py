"""Checks that a response of the API is one that its document declares."""

import re

from jsonschema import Draft202012Validator

from articles.api.documentation import SCHEMAS, document

ANYWHERE = {"408", "414", "429", "431", "500"}  # statuses that every operation declares


def check(method: str, path: str, answer) -> None:
    """Fail on an undeclared response; unknown operations must be 404 or 405. Pass `path` without a query."""
    operation = operation_at("GET" if method == "HEAD" else method, path)
    if operation is None:
        return
    declared = operation["responses"].get(str(answer.status_code))
    assert declared, f"{method} {path} answers {answer.status_code}, which is not in its document"
    assert set(declared.get("headers", ())) <= set(answer.headers)
    if method != "HEAD":
        media_type = answer["Content-Type"].partition(";")[0]
        validator(declared["content"][media_type]["schema"]).validate(answer.json())


def operation_at(method: str, path: str):
    for template, methods in document()["paths"].items():
        pattern = re.sub(
            "{(slug|name)}", "[^/]+", re.sub("{(article|comment|sweep|note)_id}", "[1-9][0-9]{0,14}", template)
        )
        if re.fullmatch(pattern, path):
            return methods.get(method.lower())
    return None


def validator(schema) -> Draft202012Validator:
    return Draft202012Validator(schema | {"components": document()["components"]})


def name_of(schema) -> str:
    return schema["$ref"].removeprefix(SCHEMAS)
