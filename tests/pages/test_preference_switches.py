"""The switches in the footer of every page."""

import re

import pytest
from django.test import Client

from tests.factories import browser_of

BUTTON = re.compile(r'<button type="submit" name="theme" value="(\w*)" aria-pressed="(\w+)"')


def themes(browser, path="/"):
    return dict(BUTTON.findall(browser.get(path).content.decode()))


def root(browser, path="/"):
    return re.search("<html[^>]*>", browser.get(path).content.decode())[0]


def test_a_reader_without_an_account_switches_the_theme_without_a_token(site_store):
    browser = Client(enforce_csrf_checks=True)
    page = browser.get("/newest/")
    assert "csrfmiddlewaretoken" not in page.content.decode()
    assert page.cookies == {}
    assert themes(browser) == {"": "true", "light": "false", "dark": "false"}

    response = browser.post("/preferences/", {"theme": "dark", "next": "/newest/"})

    assert response.headers["Location"] == "/newest/"
    assert themes(browser) == {"": "false", "light": "false", "dark": "true"}
    assert 'data-theme="dark"' in root(browser)
    assert '<meta name="color-scheme" content="dark">' in browser.get("/").content.decode()


@pytest.mark.parametrize("path", ["/nowhere/", "/articles/1/vote/"])
def test_the_switches_are_on_error_pages_too(site_store, path):
    assert themes(Client(), path)


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [("/login/", "/"), ("/post/", "/post/#chosen-theme"), ("/articles/7/vote/", "/articles/7/")],
)
def test_the_response_to_a_form_returns_to_the_page_of_the_form(site_store, bob, path, leads_to):
    browser = Client() if path == "/login/" else browser_of(bob)
    foot = browser.post(path, {"username": "nobody", "title": "", "choice": "?"}).text.split("<footer")[1]

    way_back = re.search('name="next" value="([^"]*)"', foot)[1]

    assert browser.post("/preferences/", {"theme": "dark", "next": way_back})["Location"].startswith(leads_to)
