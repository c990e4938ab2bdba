"""Tabs between pages, orders and periods, with menus: in the window at every width, the current one marked."""

import pytest

from tests import extras
from tests.browser.windows import window

pytestmark = pytest.mark.browser

PAGES = {
    None: {
        "/": ["By score"],
        "/top/?range=week": ["Week"],
        "/hot/": ["All"],
        "/hot/?range=24h": ["24 hours"],
        "/groups/redis/?order=active": ["Discussions"],
        "/hosts/github.com/": ["Newest"],
        "/search/?q=redis": ["Articles", "By relevance"],
        "/search/?q=redis&kind=comments": ["Comments"],
        "/users/demo/": ["Posted"],
    },
    "demo": {
        "/": ["By score"],
        "/users/demo/comments/": ["Comments"],
        "/mine/voted/": ["Voted for"],
        "/mine/opposed/": ["Opposed"],
        "/mine/saved/": ["Saved"],
        "/mine/flags/": ["Flagged"],
    },
    "demo-moderator": {
        "/moderation/queue/": ["Queue"],
        "/moderation/members/": ["Sign-ups"],
        "/moderation/rings/": ["Voting rings"],
        "/moderation/removed/": ["Removed", "Articles"],
        "/moderation/removed/comments/": ["Removed", "Comments"],
        "/moderation/hosts/": ["Blocked hosts"],
        "/moderation/": ["Log"],
        "/moderation/views/": ["Views"],
        **{path: tabs for found in extras.all_of("TABS") for path, tabs in found.items()},
    },
}

OUTSIDE = """() => [...document.querySelectorAll(".tabs, .tabs a")].filter(one => {
    for (const menu of document.querySelectorAll(".tabs .drop")) menu.open = true;
    const box = one.getBoundingClientRect();
    return box.left < 0 || box.right > innerWidth || one.scrollWidth > one.clientWidth + 1 && one.matches("a");
}).map(one => one.textContent)"""


@pytest.mark.parametrize("member", PAGES)
def test_all_tabs_are_in_the_window_and_the_current_one_is_marked(chromium, site, member):
    with window(chromium, site, member, has_touch=True) as page:
        for path, current in PAGES[member].items():
            page.goto(path)
            for width in (320, 390, 768):
                page.set_viewport_size({"width": width, "height": 844})
                marked = page.locator("main .tabs [aria-current]")
                assert [text.rstrip("(0123456789) ") for text in marked.all_inner_texts()] == current, path
                assert all(one.is_visible() for one in marked.all()), (path, width)
                assert page.evaluate(OUTSIDE) == [], (path, width)
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (path, width)
