"""Signing up, posting, voting, opposing, withdrawing a vote and assigning a group, by keyboard alone."""

import pytest
from playwright.sync_api import expect

from tests.browser.windows import tab_to, window

pytestmark = pytest.mark.browser


@pytest.fixture
def page(chromium, site):
    with window(chromium, site) as found:
        yield found


def follow(page, target):
    tab_to(page, target)
    page.keyboard.press("Enter")


def write(page, label, text):
    tab_to(page, page.locator("main").get_by_label(label, exact=False).first)
    page.keyboard.type(text)


def test_a_member_does_everything_without_a_mouse(page, site):
    page.goto("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    follow(page, page.get_by_role("banner").get_by_role("link", name="Sign up"))
    page.wait_for_url("**/signup/**")
    write(page, "Username", "keyboarder")
    tab_to(page, page.locator("[name=password1]"))
    page.keyboard.type("a long secret 71")
    tab_to(page, page.locator("[name=password2]"))
    page.keyboard.type("a long secret 71")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda address: "/signup/" not in address)

    follow(page, page.get_by_role("banner").get_by_role("link", name="Post", exact=True))
    page.wait_for_url("**/post/")
    write(page, "Title", "Without a mouse")
    tab_to(page, page.locator("main [name=link]"))
    page.keyboard.type("https://example.org/without-a-mouse")
    tab_to(page, page.locator("main .fold:has(.group-choice) summary"))
    page.keyboard.press("Enter")
    tab_to(page, page.locator("main").get_by_label("Databases"))
    page.keyboard.press("Space")
    follow(page, page.locator("main .actions button:not([hidden])"))
    page.wait_for_url("**/articles/*/")
    article = page.url
    said, vote, oppose = (
        page.locator("#live"),
        page.locator("main button.vote"),
        page.locator("main button.oppose"),
    )

    tab_to(page, oppose)
    page.keyboard.press("Space")
    expect(said).to_have_text("Your vote against it was counted: −1 point now.")
    expect(oppose).to_be_focused()
    page.keyboard.press("Enter")
    expect(said).to_have_text("Your vote was taken back: 0 points now.")
    page.keyboard.press("a")
    expect(said).to_have_text("Your vote was counted: 1 point now.")
    page.keyboard.press("z")
    expect(oppose).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("z")
    expect(said).to_have_text("Your vote was taken back: 0 points now.")
    page.keyboard.press("a")
    expect(said).to_have_text("Your vote was counted: 1 point now.")

    make = "from accounts.models import User; from django.contrib.auth.models import Group;"
    make += "User.objects.get(username='keyboarder').groups.add(Group.objects.get(name='Moderators'))"
    assert site.manage("shell", "-c", make).returncode == 0
    page.keyboard.press("g")
    page.keyboard.press("n")
    page.wait_for_url("**/newest/")
    page.keyboard.press("j")
    page.keyboard.press("c")
    page.wait_for_url(article)
    follow(page, page.locator(".article .foot summary"))
    follow(page, page.locator(".article .foot").get_by_role("link", name="Groups"))
    page.wait_for_url("**/groups/")
    write(page, "Find a group", "secur")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Security")).to_be_checked()
    follow(page, page.locator("main .actions button:not([hidden])"))
    page.wait_for_url(article)
    assert page.locator("main .groups a").all_inner_texts() == ["Databases", "Security"]
    expect(vote).to_have_attribute("aria-pressed", "true")
