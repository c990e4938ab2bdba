"""What every page says of itself: one visible heading, and a description for search engines."""

import re
from html import unescape

import pytest
from django.test import Client

from tests import extras
from tests.factories import actor, browser_of

PAGES = {
    None: (
        "/", "/newest/", "/hot/", "/active/", "/top/", "/groups/", "/groups/python/?order=time",
        "/articles/1/", "/articles/1/why/", "/users/alice/", "/users/alice/comments/", "/hosts/example.org/",
        "/search/", "/search/?q=title", "/about/", "/login/", "/signup/", "/password/reset/", "/moderation/",
        "/groups/python/", "/nowhere/", "/api/docs",
    ),
    "alice": (
        "/post/", "/articles/1/edit/", "/articles/1/withdraw/", "/articles/1/flag/", "/settings/",
        "/settings/delete/", "/password/", "/inbox/", "/following/", "/mine/voted/", "/mine/opposed/",
        "/mine/saved/", "/mine/flags/",
    ),
    "carol": (
        "/articles/1/groups/", "/articles/1/remove/", "/articles/1/lock/", "/articles/1/views/",
        "/moderation/queue/", "/moderation/members/", "/moderation/rings/",
        "/moderation/removed/", "/moderation/removed/comments/", "/moderation/hosts/", "/moderation/views/",
        "/moderation/groups/", "/moderation/groups/python/", "/users/alice/moderation/",
        *(path for paths in extras.all_of("OF_MODERATORS") for path, form in paths.items() if form is None),
    ),
}  # fmt: skip


def descriptions(page: str) -> list[str]:
    return [unescape(found) for found in re.findall(r'<meta name="description" content="([^"]*)">', page)]


@pytest.mark.deep
def test_every_page_has_a_visible_heading_and_a_description(site_store, article, alice, carol):
    for who, path in [(who, path) for who, paths in PAGES.items() for path in paths]:
        page = browser_of({None: None, "alice": alice, "carol": carol}[who]).get(path).text

        (heading,) = re.findall(r"<h1([^>]*)>(.*?)</h1>", page, re.DOTALL)
        assert "unseen" not in heading[0], (who, path)
        assert re.sub("<[^>]+>", "", heading[1]).strip(), (who, path)
        (description,) = descriptions(page)
        assert description.strip(), (who, path)


def test_a_group_is_described_by_its_own_description(site_store, article, carol):
    site_store.groups.describe("python", "All about *snakes*.", actor(carol))

    assert descriptions(Client().get("/groups/python/").text) == ["All about snakes."]


STEPS = {"/groups/": "Follow groups", "/about/#voting": "See how votes work"}


def steps_on(page: str) -> dict[str, str]:
    found = re.search(r'<div class="message success joined".*?</div>', page, re.DOTALL)
    return dict(re.findall(r'<a href="([^"]*)">([^<]*)</a>', found[0])) if found else {}


def test_a_new_member_reads_the_next_steps_once(site_store, article):
    browser = Client()
    fields = {"username": "newcomer", "password1": "a long secret 71", "password2": "a long secret 71"}

    page = browser.post("/signup/", fields, follow=True).text

    assert "Welcome, newcomer!" in page
    assert steps_on(page) == STEPS | {"": "Dismiss"}
    assert steps_on(browser.get("/").text) == {}
    assert 'id="voting"' in browser.get("/about/").text
