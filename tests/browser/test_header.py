"""The header: every section can be reached at every width, with and without scripts."""

import pytest
from playwright.sync_api import expect

from tests.browser.windows import follow_in_account_menu, tab_to, window

pytestmark = pytest.mark.browser

WIDTHS = (320, 390, 768, 1280)
SECTIONS = {
    "/": "Front page",
    "/newest/": "Newest",
    "/hot/": "Hot",
    "/active/": "Discussions",
    "/groups/": "Groups",
}

CUT = """() => [...document.querySelectorAll("header :is(a, button, summary)")].filter(one => {
    const box = one.getBoundingClientRect();
    return one.checkVisibility() && box.width && (box.left < 0 || box.right > innerWidth);
}).map(one => one.textContent)"""


@pytest.mark.parametrize("member", [None, "demo", "demo-moderator"])
def test_the_current_section_and_the_way_to_post_are_in_sight_at_every_width(chromium, site, member):
    sections = SECTIONS | ({"/following/": "Following"} if member else {})
    with window(chromium, site, member) as page:
        for path, name in sections.items():
            page.goto(path)
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 844})
                current = page.locator(".lists [aria-current] >> visible=true")
                assert current.inner_text() == name, (path, width)
                assert page.is_visible(".lists .post a")
                assert page.evaluate(CUT) == [], (path, width)
        look = "one => [getComputedStyle(one).color, getComputedStyle(one).backgroundColor]"
        elsewhere = page.locator(".lists .post a").evaluate(look)
        page.goto("/post/")
        assert page.locator(".lists .post a").evaluate(look) == elsewhere


@pytest.mark.parametrize("has_scripts", [True, False], ids=["script", "no script"])
def test_a_moderator_reaches_all_sections_and_tools_on_a_phone(chromium, site, has_scripts):
    with window(
        chromium, site, "demo-moderator", viewport={"width": 390, "height": 844}, java_script_enabled=has_scripts
    ) as page:
        page.goto("/")
        page.click(".lists summary")
        page.click(".lists .drop a[href='/groups/']")
        page.wait_for_url("**/groups/")
        for address in ("/mine/saved/", "/settings/", "/moderation/queue/"):
            follow_in_account_menu(page, f".drop a[href='{address}']")
            page.wait_for_url(f"**{address}")
            assert page.locator(".account summary").get_attribute("aria-current") == "true"


def test_escape_closes_a_menu_and_the_focus_stays(chromium, site):
    with window(chromium, site, "demo") as page:
        page.goto("/")
        summary = page.locator(".account summary")
        tab_to(page, summary)
        page.keyboard.press("Enter")
        expect(page.locator(".account .drop a").first).to_be_visible()
        page.keyboard.press("Tab")

        page.keyboard.press("Escape")

        expect(page.locator(".account .drop a").first).to_be_hidden()
        expect(summary).to_be_focused()
