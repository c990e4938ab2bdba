"""A discussion: write before the login, reply, vote, fold, edit and delete, with and without scripts."""

import pytest
from playwright.sync_api import expect

from tests.browser.windows import window
from tests.cast import PASSWORD
from tests.content import DISCUSSED, MEMBER

pytestmark = pytest.mark.browser


@pytest.fixture(params=[True, False], ids=["scripts", "no scripts"])
def page(request, chromium, site):
    locale, width = ("zh-CN", 1280) if request.param else ("en-GB", 390)
    options = {"java_script_enabled": request.param, "viewport": {"width": width, "height": 844}}
    with window(chromium, site, locale=locale, **options) as found:
        found.has_scripts = request.param
        yield found


def log_in(page, site) -> None:
    """Fill in the login form that carries the comment."""
    page.fill("main [name=username]", MEMBER)
    page.fill("main [name=password]", PASSWORD)
    page.click("main form.form button[type=submit]")


def test_a_comment_typed_before_the_login_then_a_vote_a_reply_an_edit_and_a_deletion(page, site):
    page.goto(f"/articles/{DISCUSSED}/")
    text = f"Typed before the login, {page.has_scripts}"
    page.click("main .write > summary")
    page.fill("main .write textarea", text)
    page.click("main .write button[type=submit]")
    log_in(page, site)
    expect(page.locator("main textarea")).to_have_value(text)
    page.click("main form.form button[type=submit]")
    own = page.locator(".comment", has_text=text)
    expect(own).to_be_visible()
    assert page.url.endswith(f"#{own.get_attribute('id')}")

    other = page.locator("main .discussion > .thread > .comment:has(> details > .thread)").first
    head, prose = other.locator("> .head"), other.locator("> details > .prose")
    vote = other.locator("> details > .foot button.vote")
    wanted = "false" if vote.get_attribute("aria-pressed") == "true" else "true"
    with page.expect_response("**/vote/"):
        vote.click()
    expect(vote).to_have_attribute("aria-pressed", wanted)
    page.reload()
    expect(vote).to_have_attribute("aria-pressed", wanted)
    expect(own.locator("button.vote")).to_have_count(0)
    other.locator("> details > summary").click()
    expect(prose).to_be_hidden()
    expect(head.locator(".within")).to_be_visible()
    other.locator("> details > summary").click()
    expect(prose).to_be_visible()

    answer = f"A reply, {page.has_scripts}"
    own.locator("a.reply").click()
    page.fill("main textarea[name=text]", f"*{answer}*")
    if not page.has_scripts:
        page.click("main button[name=preview]")
    expect(page.locator(".preview em")).to_have_text(answer)
    form = own.locator(".write") if page.has_scripts else page.locator("main form.form")
    form.locator("textarea").fill(answer)
    form.locator("button[type=submit]:not([name])").click()
    reply = own.locator(".thread .comment")
    expect(reply).to_contain_text(answer)

    reply.locator(".foot summary").click()
    reply.locator(".foot a[href$='/edit/']").click()
    page.fill("main textarea", f"{answer}, edited")
    page.click("main form.form button[type=submit]")
    expect(reply).to_contain_text(f"{answer}, edited")
    reply.locator(".foot summary").click()
    reply.locator(".foot a[href$='/delete/']").click()
    page.click("main form.form button[type=submit]")
    expect(page.locator(".message.success")).to_be_visible()
    expect(reply).to_have_count(0)
