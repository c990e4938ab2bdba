"""Every form of every page, as every role, with hostile values."""

import pytest
from django.http import Http404
from django.test import Client
from django.urls import resolve

from tests.fuzz import hostile
from tests.fuzz.conftest import ROLES, Roles
from tests.fuzz.forms import Form, FormsOf, body_of, mutated
from tests.fuzz.run import Run
from tests.routes import routes_of_pages

CASES = {"reader": 4_000, "member": 6_000, "moderator": 8_000, "operator": 4_000}

ARTICLES = ("1", "2", "4", "31")
"""Ids of an article with readers, of another, of a removed one, and of a closed one."""

pytestmark = [pytest.mark.fuzz, pytest.mark.timeout(900)]


@pytest.mark.parametrize("role", ROLES)
def test_no_form_breaks_the_site(roles: Roles, role: str) -> None:
    run = Run(f"forms as {role}", CASES[role])
    forms = _forms(roles.browser(role))
    assert len(forms) >= 5
    lax, strict = roles.browser(role), roles.browser(role, strict=True)

    with run.watching():
        while not run.is_over:
            form, chance = run.random.choice(forms), run.random
            browser = strict if chance.random() < 0.1 else lax
            pairs = mutated(form, chance)
            body, kind = body_of(pairs, chance)
            answer = _send(browser, form, body, kind, chance.random())
            run.record(f"{form.method} {form.action} {kind} {body[:1000]!r}", answer.status_code)
            if (user := roles.users[role]) and not _is_logged_in(browser):
                user.refresh_from_db()
                browser.force_login(user)


def _send(browser: Client, form: Form, body: bytes, kind: str, luck: float):
    if form.method == "get":
        return browser.generic("GET", form.action.partition("?")[0], QUERY_STRING=body.decode("latin-1")[:4000])
    headers = {"Accept": "application/json"} if luck < 0.2 else {}
    if luck > 0.97:
        headers["Origin"] = "https://evil.example"
    return browser.generic("POST", form.action, body, content_type=kind, headers=headers)


def _is_logged_in(browser: Client) -> bool:
    return bool(browser.cookies.get("sessionid") and browser.cookies["sessionid"].value)


def _forms(browser: Client) -> list[Form]:
    """Return each form of the site's pages, once, without other articles' copies of it."""
    found: dict[tuple[str, str, tuple[str, ...]], Form] = {}
    for path in dict.fromkeys(route.path(article_id=one) for route in routes_of_pages() for one in ARTICLES):
        answer = browser.get(path)
        if answer.get("Content-Type", "").startswith("text/html"):
            page = FormsOf(path)
            page.feed(answer.content.decode())
            for form in page.forms:
                key = _view(form.action), form.method, tuple(sorted({name for name, _ in form.fields}))
                found.setdefault(key, form)
    return [form for form in found.values() if form.action.startswith("/") and form.method in ("get", "post")]


def _view(action: str) -> str:
    try:
        return resolve(action.partition("?")[0]).view_name
    except Http404:
        return action


def test_hostile_texts_include_the_shared_cases(shared_dir) -> None:
    assert len(hostile.texts()) > 1_500
