"""Long texts whose normal form takes time that grows with the square of their length: only the beginning is read.

What is counted is how much text is normalised, not the time.
"""

import json
import re
import unicodedata

import pytest
from django.test import Client

from articles.api.documentation.openapi import document
from articles.text.lines import REASON_LIMIT, UNREAD_FACTOR
from tests.attacks.fields import FIELDS
from tests.factories import browser_of
from tests.routes import routes

LONGEST = UNREAD_FACTOR * REASON_LIMIT
"""Characters of the longest line that is read at all."""

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


@pytest.mark.parametrize("has_account", [True, False])
def test_no_form_normalises_a_long_text(site_store, article, carol, longest, has_account):
    carol.is_staff = carol.is_superuser = True
    carol.save()
    accepting = [route for route in routes() if not route.pattern.startswith("/api/")]
    accepting = [one for one in accepting if browser_of(carol).post(one.path()).status_code not in (404, 405)]
    seen: set[str] = set()

    assert len(accepting) >= 25
    for route in accepting:
        fields = names_of_fields(browser_of(carol).get(route.path()).text)
        seen |= fields
        browser = browser_of(carol) if has_account else Client()
        for name in (fields or TYPED.keys()) | {"username", "name", "next"}:
            browser.post(route.path(), TYPED | {name: MARKS})
            assert longest[0] <= LONGEST, (route.pattern, name)
    assert {"username", "email", "reason", "title", "text", "new_group", "name", "merge-into"} <= seen


def test_no_stale_form_normalises_a_long_text(site_store, article, bob, longest):
    for path in ("/login/", "/signup/", "/settings/", "/settings/delete/", "/password/", "/post/"):
        for browser in (Client(enforce_csrf_checks=True), browser_of(bob, strict=True)):
            for name in TYPED:
                browser.post(path, TYPED | {name: MARKS})
                assert longest[0] <= LONGEST, (path, name)


def test_no_address_normalises_a_long_text(site_store, article, bob, longest):
    for route in routes():
        paths = [route.path(**{parameter: MARKS}) for parameter in route.parameters]
        for browser in (Client(), browser_of(bob)):
            for path in paths:
                browser.get(path).close()
                assert longest[0] <= LONGEST, route.pattern
            for name in ("q", "group", "next", "link"):
                browser.get(route.path(), {name: MARKS}).close()
                assert longest[0] <= LONGEST, (route.pattern, name)


def test_no_body_of_the_api_normalises_a_long_text(site_store, article, carol, longest):
    schemas = document()["components"]["schemas"].values()
    names = {name for schema in schemas for name in schema.get("properties", ())}
    browser, posted = browser_of(carol), 0

    assert {"title", "link", "groups", "choice", "reason"} <= names
    for template, methods in document()["paths"].items():
        path = template.format(article_id=article, comment_id=1_000_001, slug="python", name="alice")
        for method in {"post", "put", "patch", "delete"} & set(methods):
            for name in names:
                for value in (MARKS, [MARKS]):
                    body = FIELDS | {"groups": ["python"], name: value}
                    browser.generic(method.upper(), path, json.dumps(body, ensure_ascii=False), "application/json")
                    posted += 1
                    assert longest[0] <= LONGEST, (method, path, name)
    assert posted
