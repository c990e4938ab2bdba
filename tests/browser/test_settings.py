"""The settings, the profile and the index of groups, at every width and by keyboard."""

import pytest
from playwright.sync_api import expect

from tests.browser.windows import tab_to, window

pytestmark = pytest.mark.browser

WIDTHS = (320, 390, 1280)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("has_scripts", [True, False], ids=["script", "no script"])
def test_the_contents_lead_to_a_page_by_keyboard_and_saving_back_to_it(chromium, site, width, has_scripts):
    size = {"width": width, "height": 844}
    with window(chromium, site, "demo", viewport=size, java_script_enabled=has_scripts) as page:
        page.goto("/settings/#settings-hidden")
        link = page.locator("main a[href='/settings/reading/']")
        expect(link).to_be_in_viewport()
        assert page.locator("main li").last.bounding_box()["y"] < 844
        tab_to(page, link)
        page.keyboard.press("Enter")
        page.wait_for_url("**/settings/reading/")

        page.locator("[name=keyboard][value=on]").check()
        page.click("text=Save reading preferences")

        expect(page.locator(".message.success")).to_be_in_viewport()
        assert page.url.endswith("/settings/reading/")
        back = "main a[href='/settings/']" if width < 768 else ".settings nav a[href='/settings/mail/']"
        expect(page.locator(back)).to_be_in_viewport()


def test_sending_one_form_of_a_page_loses_nothing_that_is_typed_in_another(chromium, site):
    with window(chromium, site, "demo") as page:
        page.goto("/settings/reading/")
        page.check("[name=keyboard][value=off]")
        page.select_option("#preferred-language", "zh-hant")
        page.click("footer button[name=theme][value=dark]")
        expect(page.locator("[name=theme][value=dark]:not(button)")).to_be_checked()
        expect(page.locator("[name=keyboard][value=off]")).to_be_checked()
        expect(page.locator("#preferred-language")).to_have_value("zh-hant")

        page.goto("/hidden/?add=host")
        page.click("text=Hide a word")
        page.fill("#hide-word", "half a wo")
        page.fill("#hide-host", "example.net")
        page.click("text=Hide this host")
        expect(page.locator("#hide-word")).to_have_value("half a wo")
        expect(page.locator("#hide-host")).to_have_value("")
        page.reload()
        expect(page.locator("#hide-word")).to_have_value("")


def test_an_invitation_is_shared_or_copied_where_the_browser_can(chromium, site):
    can = "Object.assign(navigator, {share: async ({url}) => { window.shared = url; }})"
    with window(chromium, site, "demo", permissions=["clipboard-read", "clipboard-write"]) as page:
        page.goto("/settings/invitations/")
        page.click("text=Create an invitation")
        form = page.locator(".invitation").first
        link = form.locator("input.token").input_value()
        expect(form.get_by_role("button", name="Share")).to_be_hidden()
        form.get_by_role("button", name="Copy").click()
        assert page.evaluate("navigator.clipboard.readText()") == link

        page.add_init_script(can)
        page.reload()
        page.locator(".invitation").first.get_by_role("button", name="Share").click()
        assert page.evaluate("window.shared") == link
