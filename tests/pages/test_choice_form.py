"""The one form of a page whose buttons vote and save articles; on an article's page it is around its buttons."""

from typing import Any

import pytest

from tests.factories import browser_of, view
from tests.html import tree_of

LISTS = ["/", "/newest/", "/hot/", "/top/?range=week", "/groups/python/?order=time", "/users/alice/"]
PAGES = [*LISTS, "/search/?q=title&group=python", "/articles/1/"]
OWN_LISTS = ["/mine/voted/", "/mine/saved/"]


def buttons_of(tree: Any) -> list[dict[str, str]]:
    """Return the attributes of the buttons that vote or save."""
    return [button.attrs for button in tree.query("button[name=choice], button[name=saved]")]


def fields_of(form: Any) -> dict[str, str]:
    return {field.attrs["name"]: field.attrs["value"] for field in form.query("input")}


@pytest.fixture
def chosen(site_store, article, alice, bob):
    """An article in every list: it has views, and bob saved it and voted for it."""
    view(site_store, article, 1, 2)
    site_store.members.save(bob.pk, article, wanted=True)
    browser_of(bob).post(f"/articles/{article}/vote/", {"choice": "vote"})
    return article


def test_one_form_holds_the_token_and_the_way_back_of_all_choices(chosen, bob):
    for path, is_member in [*((path, True) for path in PAGES + OWN_LISTS), *((path, False) for path in PAGES)]:
        tree = tree_of(browser_of(bob if is_member else None).get(path).content)
        buttons = buttons_of(tree)
        (form,) = tree.query("form#choose")

        assert form.attrs["method"] == "post", (path, is_member)
        fields = fields_of(form)
        assert fields.pop("next") == path, (path, is_member)
        assert list(fields) == (["csrfmiddlewaretoken"] if is_member else []), (path, is_member)
        assert {button.get("form") for button in buttons} == {"choose"}, (path, is_member)
        assert [(button.get("formaction"), button.get("name"), button.get("value")) for button in buttons] == [
            (f"/articles/{chosen}/vote/", "choice", "none" if is_member else "vote"),
            (f"/articles/{chosen}/vote/", "choice", "oppose"),
            *([(f"/articles/{chosen}/save/", "saved", "forget")] if is_member else []),
        ]


def test_on_an_article_browsers_without_the_form_attribute_vote_and_save_as_well(article, bob):
    browser, path = browser_of(bob, strict=True), f"/articles/{article}/"
    forms = [one for one in tree_of(browser.get(path).content).query("form") if buttons_of(one)]

    for form in forms:
        for button in form.query("button"):
            assert button.to_text().strip(), "a browser for terminals shows no picture"
            sent = fields_of(form) | {button.attrs["name"]: button.attrs["value"]}
            assert browser.post(form.attrs["action"], sent)["Location"] == f"{path}#article-{article}"

    page = browser.get(path).content
    assert [button.get("aria-pressed") for button in buttons_of(tree_of(page))] == ["false", "true", "true"]


def test_the_form_votes_saves_and_leads_back(site_store, article, bob):
    browser = browser_of(bob, strict=True)
    tree = tree_of(browser.get("/search/?q=title").content)
    fields = fields_of(tree.query_one("form#choose"))

    for button in buttons_of(tree):
        answer = browser.post(button.get("formaction"), fields | {button.get("name"): button.get("value")})
        assert answer["Location"] == f"/search/?q=title#article-{article}"

    page = browser.get("/search/?q=title").content
    assert [button.get("aria-pressed") for button in buttons_of(tree_of(page))] == ["false", "true", "true"]


@pytest.mark.parametrize("path", ["/groups/", "/about/", "/post/", "/settings/", "/moderation/", "/search/"])
def test_a_page_without_articles_has_no_form_of_choices(article, bob, path):
    assert 'id="choose"' not in browser_of(bob).get(path).text
