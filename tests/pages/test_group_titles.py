"""Where people read, a group has one name: its title. Its slug is in addresses and in the API."""

import re
from html import unescape

import pytest
from django.test import Client

from articles.web import wiring
from tests.factories import actor, browser_of, post_as

SLUG, TITLE = "qx7", "Reading room"

PAGES = {
    "/newest/": "",
    "/groups/": "",
    "/groups/qx7/": "",
    "/articles/1/": "",
    "/search/?q=room&group=qx7": "",
    "/search/?q=room&kind=groups": "",
    "/search/?q=room&kind=comments&group=qx7": "",
    "/moderation/": "",
    "/articles/1/why/": "",
    "/following/": "bob",
    "/hidden/": "bob",
    "/post/": "bob",
    "/articles/1/groups/": "carol",
    "/moderation/groups/qx7/": "carol",
}


@pytest.fixture
def people(site_store, alice, bob, carol):
    site_store.groups.create(SLUG, TITLE, actor(carol))
    post_as(site_store, alice, "A room", "https://example.org/a", [SLUG])
    site_store.groups.assign(1, remove=[SLUG], actor=actor(carol), reason="moved")
    site_store.groups.assign(1, [SLUG], actor=actor(carol), reason="moved back")
    return {"": None, "bob": bob, "carol": carol}


def words_of(page: str) -> str:
    """Return what a page says, also to screen readers and other sites, without addresses and scripts."""
    told = re.findall(r' (?:title|aria-label|content|placeholder)="(?!http)([^"]*)"', page)
    return unescape(" ".join([*told, re.sub(r"<(script|style).*?</\1>|<[^>]+>", " ", page, flags=re.DOTALL)]))


@pytest.mark.parametrize("path", PAGES)
def test_pages_name_a_group_by_its_title(site_store, people, path):
    browser = browser_of(people[PAGES[path]])
    if path in ("/following/", "/hidden/"):
        told = browser.post("/following/groups/qx7/", {"follow": "follow", "next": "/groups/"}, follow=True)
        assert f"You now follow the group “{TITLE}”." in told.text
    if path == "/hidden/":
        told = browser.post("/preferences/", {"hide": SLUG, "next": "/groups/"}, follow=True)
        assert f"The group “{TITLE}” is now hidden from your lists." in told.text

    words = words_of(browser.get(path).text)

    assert TITLE in words
    assert SLUG not in words


def test_another_process_of_the_machine_sees_a_new_title_at_once(site_store, people, carol, settings, tmp_path):
    settings.KEPT_PAGES_DIR = tmp_path
    assert wiring.group_title(SLUG) == TITLE
    remembered = dict(vars(wiring._titles))

    site_store.groups.rename(SLUG, "Library", actor(carol))
    vars(wiring._titles).update(remembered)  # as another process remembers it

    assert wiring.group_title(SLUG) == "Library"


def test_a_search_finds_a_group_by_its_typed_title(site_store, people):
    assert wiring.group_named("reading ROOM ") == SLUG
    assert "in the group “Reading room”" in words_of(Client().get("/search/?q=room&group=reading+room").text)
