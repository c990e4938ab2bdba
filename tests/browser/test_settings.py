"""The settings, the profile and the index of groups, at every width and by keyboard."""

import pytest
from playwright.sync_api import expect

from tests.browser.windows import tab_to, window

pytestmark = pytest.mark.browser

WIDTHS = (320, 390, 1280)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("has_scripts", [True, False], ids=["script", "no script"])
def test_the_contents_lead_to_a_section_by_keyboard_and_saving_back_to_it(chromium, site, width, has_scripts):
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
