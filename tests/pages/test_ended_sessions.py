"""Forms whose session has ended: the login returns to the form, filled in as before."""

import re
from html import unescape

import pytest
from django.test import Client

from tests.cast import password_of
from tests.factories import actor, browser_of


def hidden(response):
    main = response.text[response.text.index("<main") : response.text.index("</main>")]
    return {n: unescape(v) for n, v in re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', main)}


def log_in(browser, page, name):
    fields = hidden(page) | {"username": name, "password": password_of(name)}
    return browser.post("/login/", fields)["Location"]


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/post/", {"title": "A <b>title</b>", "link": "https://example.org/typed", "groups": ["python", "web"]}),
        ("/articles/1/edit/", {"title": "Typed title", "link": "https://example.org/typed", "reason": "because"}),
        ("/articles/1/remove/", {"reason": "because"}),
        ("/articles/1/restore/", {"reason": "because"}),
        ("/articles/1/groups/", {"new_group": "Typed", "reason": "because", "groups": ["python", "web"]}),
        ("/moderation/groups/", {"title": "Typed"}),
        ("/moderation/groups/python/", {"title": "Typed", "reason": "because", "rename": "1"}),
    ],
)
def test_the_form_comes_back_filled_in(site_store, article, carol, path, fields):
    browser = Client()
    page = browser.post(path, fields)
    if path == "/articles/1/restore/":
        site_store.articles.remove(article, actor(carol), "spam")

    assert log_in(browser, page, "carol") == path

    shown = browser.get(path).text
    shown = unescape(shown[shown.index("<main") :])
    assert "It has not been sent yet." in shown
    for name in fields.keys() - {"rename", "groups"}:
        assert f'value="{fields[name]}"' in shown, name
    if "groups" in fields:
        assert re.search(r'value="python"[^>]*checked', shown)
        assert 'value="web"' in shown


@pytest.mark.parametrize(
    ("path", "fields", "page"),
    [
        ("/settings/tokens/", {"name": "because"}, "/settings/programs/"),
        ("/settings/tokens/1/revoke/", {}, "/settings/programs/"),
    ],
)
def test_the_login_returns_to_the_page_that_holds_the_form(site_store, carol, path, fields, page):
    browser = Client()
    answer = browser.post(path, fields, follow=True)

    assert log_in(browser, answer, "carol") == page

    shown = browser.get(page)
    assert shown.status_code == 200
    if "because" in fields.values():
        assert 'value="because"' in shown.text


def test_input_of_one_member_is_not_kept_for_the_next(site_store, article, alice, bob):
    browser = Client()
    page = browser.post("/post/", {"title": "Alice typed this", "link": "https://example.org/"})
    log_in(browser, page, "alice")
    browser.post("/logout/")

    browser.force_login(bob)

    assert "Alice typed this" not in browser.get("/post/").text


def test_kept_input_does_not_replace_a_form_a_member_sends(site_store, alice):
    browser = Client()
    log_in(browser, browser.post("/post/", {"title": "Older", "link": ""}), "alice")

    assert "Older" not in browser.post("/post/", {"title": "Newer", "link": ""}).text
    assert browser_of(alice).get("/post/").status_code == 200
