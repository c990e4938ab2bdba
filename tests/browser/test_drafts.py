"""Drafts: what a member types outlives a lost connection, and no other member sees it."""

import pytest
from playwright.sync_api import expect

from tests.browser.windows import follow_in_account_menu, log_in, window

pytestmark = pytest.mark.browser

KEPT = "Object.keys(localStorage).filter((key) => key.startsWith('draft '))"


@pytest.fixture
def page(chromium, site):
    with window(chromium, site) as found:
        log_in(found, site, "demo")
        yield found


def open_discussion(page):
    page.goto("/active/")
    page.locator("main .row a.comments").first.click()
    page.wait_for_url("**/articles/**")  # loaded: without scripts, a lost connection loses the text


def test_a_text_outlives_a_lost_connection_and_no_other_member_sees_it(page, site):
    form, note, kept = page.locator(".write"), page.locator(".write .draft"), "Typed while offline"
    open_discussion(page)
    page.context.set_offline(True)
    parent = page.locator(".comment:has(.reply)").first
    parent.locator("a.reply").first.click()
    form.locator("textarea").fill(kept)
    form.locator("button[type=submit]:not([name])").click()
    expect(note).to_contain_text("the site didn’t respond")
    expect(form.locator("textarea")).to_have_value(kept)

    page.context.set_offline(False)
    open_discussion(page)
    expect(note).to_contain_text("Restored what you typed on")
    expect(form.locator("textarea")).to_have_value(kept)
    expect(form.locator("[name=parent]")).to_have_value(parent.get_attribute("id").removeprefix("comment-"))
    form.locator("button[type=submit]:not([name])").click()
    own = parent.locator(".comment", has_text=kept)
    expect(own).to_be_visible()
    assert page.url.endswith(f"#{own.get_attribute('id')}")
    assert page.evaluate(KEPT) == []

    page.goto("/post/")
    page.fill("main [name=title]", "A title without a link")
    page.click("main form.form button[type=submit]:not([name])")  # the server refuses it, and shows it again
    expect(page.locator("main .problems")).to_be_visible()
    page.fill("main [name=text]", "A text")
    page.goto("/post/")
    expect(page.locator("main [name=title]")).to_have_value("A title without a link")
    page.get_by_role("button", name="Discard").click()
    expect(page.locator("main [name=title]")).to_have_value("")
    assert page.evaluate(KEPT) == []

    page.fill("main [name=title]", "For no one else")
    page.context.clear_cookies(name="sessionid")  # the session ended, and another member comes
    log_in(page, site, "demo-moderator")
    page.goto("/post/")
    expect(page.locator("main [name=title]")).to_have_value("")
    page.fill("main [name=title]", "Until the logout")
    assert len(page.evaluate(KEPT)) == 1
    follow_in_account_menu(page, "form[action='/logout/'] button")
    expect(page.get_by_role("link", name="Log in")).to_be_visible()
    assert page.evaluate(KEPT) == []
