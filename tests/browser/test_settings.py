"""The settings, the profile and the index of groups, at every width and by keyboard."""

import pytest
from playwright.sync_api import expect

from tests.browser.windows import tab_to, window

pytestmark = pytest.mark.browser

WIDTHS = (320, 390, 1280)
OUTSIDE = """() => [...document.querySelectorAll("main :is(a, button, p, h1, h2, h3)")].filter(one => {
    const box = one.getBoundingClientRect();
    return one.checkVisibility() && box.width > 1 && (box.left < 0 || box.right > innerWidth);
}).map(one => one.textContent)"""


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("has_scripts", [True, False], ids=["script", "no script"])
def test_the_contents_lead_to_a_section_by_keyboard_and_saving_returns_to_it_in_sight(
    chromium, site, width, has_scripts
):
    size = {"width": width, "height": 844}
    with window(chromium, site, "demo", viewport=size, java_script_enabled=has_scripts) as page:
        page.goto("/settings/")
        link = page.locator(".settings nav a[href='#settings-data']")
        assert page.locator(".settings nav a").last.bounding_box()["y"] < 844
        tab_to(page, link)
        page.keyboard.press("Enter")
        expect(page.locator("#settings-data")).to_be_in_viewport()

        page.locator("[name=keyboard][value=on]").check()
        page.click("text=Save reading preferences")
        page.wait_for_url("**/settings/#settings-reading")

        expect(page.locator("#settings-reading")).to_be_in_viewport()
        expect(page.locator(".message.success")).to_be_in_viewport()
        message, heading = (page.locator(one).bounding_box() for one in (".message.success", "#settings-reading"))
        assert message["y"] + message["height"] <= heading["y"], "the message covers the section"


@pytest.mark.parametrize("path", ["/settings/", "/groups/", "/groups/databases/", "/users/demo/"])
def test_nothing_reaches_out_of_the_window(chromium, site, path):
    with window(chromium, site, "demo") as page:
        page.goto(path)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 844})
            assert page.evaluate(OUTSIDE) == [], width


def test_a_group_is_followed_in_the_index_by_keyboard_on_a_phone(chromium, site):
    with window(chromium, site, "demo", viewport={"width": 390, "height": 844}, has_touch=True) as page:
        page.goto("/groups/")
        button = page.locator(".group-index button[value=follow]").first
        group = button.get_attribute("formaction")
        assert button.bounding_box()["height"] >= 44
        tab_to(page, button)
        page.keyboard.press("Enter")

        expect(page.locator(f".group-index button[formaction='{group}']")).to_have_attribute("value", "unfollow")
        page.click(f".group-index button[formaction='{group}']")
