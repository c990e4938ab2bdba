"""Long texts whose normal form takes time that grows with the square of their length: only the beginning is read.

What is counted is how much text is normalised, not the time.
"""

import json
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import pytest
from django.test import Client

from articles.api.documentation import document
from articles.text.lines import REASON_LIMIT, UNREAD_FACTOR
from tests import extras
from tests.attacks.fields import FIELDS
from tests.factories import browser_of
from tests.routes import Route, routes

LONGEST = UNREAD_FACTOR * REASON_LIMIT  # characters of the longest line that is read at all
MARKS = "\u0300" * LONGEST + "\u0316" * LONGEST
"""Every mark of the second kind has to move before all of the first."""

TYPED = FIELDS | {
    **dict.fromkeys(("username", "password", "password1", "password2", "old_password"), "alice"),
    **dict.fromkeys(("new_password1", "new_password2", "password", "was", "groups", "hidden", "q", "next"), "x"),
}


@pytest.fixture
def longest(monkeypatch) -> list[int]:
    """The length of the longest text that was normalised; the rest of a longer one is cut, so as not to wait."""
    most, normalize = [0], unicodedata.normalize

    def record(form: str, text: str) -> str:
        most[0] = max(most[0], len(text))
        return normalize(form, text[:LONGEST])

    monkeypatch.setattr(unicodedata, "normalize", record)
    return most


def names_of_fields(page: str) -> set[str]:
    return set(re.findall(r'<(?:input|select|textarea)\b[^>]*\bname="([^"]+)"', page))


def test_no_form_normalises_a_long_text(site_store, article, carol, longest):
    carol.is_staff = carol.is_superuser = True
    carol.save()
    accepting = [route for route in routes() if not route.pattern.startswith("/api/")]
    accepting = [one for one in accepting if browser_of(carol).post(one.path()).status_code not in (404, 405)]
    seen: set[str] = set()

    assert len(accepting) >= 25
    for route in accepting:
        fields = names_of_fields(browser_of(carol).get(route.path()).text)
        seen |= fields
        browser, names = browser_of(carol), (fields or TYPED.keys()) | {"username", "name", "next"}
        post_each(browser, route, names, longest)
        # A redirection to the login keeps what was typed, or reads none of it: both look at all fields at once.
        if Client().post(route.path(), TYPED | dict.fromkeys(names, MARKS)).status_code != 302:
            post_each(Client(), route, names, longest)
        assert longest[0] <= LONGEST, route.pattern
    assert {"username", "email", "reason", "title", "text", "new_group", "name", "merge-into"} <= seen


def post_each(browser: Client, route: Route, names: Iterable[str], longest: list[int]) -> None:
    for name in names:
        browser.post(route.path(), TYPED | {name: MARKS})
        assert longest[0] <= LONGEST, (route.pattern, name)


def test_no_stale_form_normalises_a_long_text(site_store, article, bob, longest):
    for path in ("/login/", "/signup/", "/settings/email/", "/settings/delete/", "/password/", "/post/"):
        for browser in (Client(enforce_csrf_checks=True), browser_of(bob, strict=True)):
            for name in TYPED:
                browser.post(path, TYPED | {name: MARKS})
                assert longest[0] <= LONGEST, (path, name)


def test_no_address_normalises_a_long_text(site_store, article, bob, longest):
    for route in routes():
        answers = get_each(browser_of(bob), route, longest)
        if answers & {301, 302}:  # else a member gets as far as a visitor, or further
            get_each(Client(), route, longest)


def get_each(browser: Client, route: Route, longest: list[int]) -> set[int]:
    """Send a long text as each part and parameter of the address; return the statuses of the answers."""
    names = ("q", "group", "next", "link")
    asked = [(route.path(**{part: MARKS}), {}) for part in route.parameters]
    asked.append((route.path(), dict.fromkeys(names, MARKS)))
    answers = [status_of(browser, *one, longest) for one in asked]
    if answers[-1] >= 400 and answers[-1] != status_of(browser, route.path(), {}, longest):
        # One was refused, perhaps before the others were read.
        answers += [status_of(browser, route.path(), {name: MARKS}, longest) for name in names]
    return set(answers)


def status_of(browser: Client, path: str, query: dict[str, str], longest: list[int]) -> int:
    answer = browser.get(path, query)
    answer.close()
    assert longest[0] <= LONGEST, (path[:99], *query)
    return answer.status_code


def test_no_body_of_the_api_normalises_a_long_text(site_store, article, carol, longest):
    browser, sent = browser_of(carol), set()

    for template, methods in document()["paths"].items():
        words = {"slug": "python", "name": "alice", "scope": "posting"} | extras.joined("API_PARAMETERS")
        path = template.format_map(defaultdict(lambda: 1, words, article_id=article, comment_id=1_000_001))
        for method in {"post", "put", "patch", "delete"} & set(methods):
            names = names_in_body(methods[method])
            sent |= names
            for name in names or {"reason"}:
                for value in (MARKS, [MARKS]):
                    body = FIELDS | {"groups": ["python"], name: value}
                    browser.generic(method.upper(), path, json.dumps(body, ensure_ascii=False), "application/json")
                    assert longest[0] <= LONGEST, (method, path, name)
    assert {"title", "link", "groups", "choice", "reason", "text"} <= sent


def names_in_body(operation: dict[str, Any]) -> set[str]:
    """Return the fields of the body that the document describes."""
    body = operation.get("requestBody", {"content": {}})["content"].get("application/json", {"schema": {}})
    *_, name = body["schema"].get("$ref", "").split("/")
    schema = document()["components"]["schemas"][name] if name else body["schema"]
    return set(schema.get("properties", ()))
