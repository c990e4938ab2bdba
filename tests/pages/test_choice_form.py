"""The one form of a page whose buttons vote and save articles."""

from typing import Any

import html5lib
import pytest

from tests.factories import browser_of, view

LISTS = ["/", "/newest/", "/hot/", "/top/?range=week", "/groups/python/?order=time", "/users/alice/"]
PAGES = [*LISTS, "/search/?q=title&group=python", "/articles/1/"]
OWN_LISTS = ["/mine/voted/", "/mine/saved/"]


def tree_of(page: bytes) -> Any:
    return html5lib.parse(page, namespaceHTMLElements=False)


def buttons_of(tree: Any) -> list[Any]:
    return [button for button in tree.iter("button") if button.get("name") in ("choice", "saved")]


@pytest.fixture
def chosen(site_store, article, alice, bob):
    """An article in every list: it has views, and bob saved it and voted for it."""
    view(site_store, article, 1, 2)
    site_store.members.save(bob.pk, article, wanted=True)
    browser_of(bob).post(f"/articles/{article}/vote/", {"choice": "vote"})
    return article


@pytest.mark.parametrize(
    ("path", "is_member"), [*((path, True) for path in PAGES + OWN_LISTS), *((path, False) for path in PAGES)]
)
def test_one_form_holds_the_token_and_the_way_back_of_all_choices(chosen, bob, path, is_member):
    tree = tree_of(browser_of(bob if is_member else None).get(path).content)
    buttons = buttons_of(tree)
    forms = [form for form in tree.iter("form") if form.get("id") == "choose"]

    assert [form.get("method") for form in forms] == ["post"]
    fields = {field.get("name"): field.get("value") for field in forms[0].iter("input")}
    assert fields.pop("next") == path
    assert list(fields) == (["csrfmiddlewaretoken"] if is_member else [])
    assert {button.get("form") for button in buttons} == {"choose"}
    assert not [button for form in tree.iter("form") for button in buttons_of(form)]
    assert [(button.get("formaction"), button.get("name"), button.get("value")) for button in buttons] == [
        (f"/articles/{chosen}/vote/", "choice", "none" if is_member else "vote"),
        (f"/articles/{chosen}/vote/", "choice", "oppose"),
        *([(f"/articles/{chosen}/save/", "saved", "forget")] if is_member else []),
    ]


def test_the_form_votes_saves_and_leads_back(site_store, article, bob):
    browser = browser_of(bob, strict=True)
    tree = tree_of(browser.get("/search/?q=title").content)
    (form,) = (form for form in tree.iter("form") if form.get("id") == "choose")
    fields = {field.get("name"): field.get("value") for field in form.iter("input")}

    for button in buttons_of(tree):
        answer = browser.post(button.get("formaction"), fields | {button.get("name"): button.get("value")})
        assert answer["Location"] == f"/search/?q=title#article-{article}"

    page = browser.get("/search/?q=title").content
    assert [button.get("aria-pressed") for button in buttons_of(tree_of(page))] == ["false", "true", "true"]


@pytest.mark.parametrize("path", ["/groups/", "/about/", "/post/", "/settings/", "/moderation/", "/search/"])
def test_a_page_without_articles_has_no_form_of_choices(article, bob, path):
    assert 'id="choose"' not in browser_of(bob).get(path).text
