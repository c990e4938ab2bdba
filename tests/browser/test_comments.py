"""A discussion: write before the login, reply, vote, fold, edit and delete, with and without scripts."""

import pytest
from playwright.sync_api import expect

from tests.browser.looks import LOOKS, window
from tests.browser.windows import log_in

pytestmark = pytest.mark.browser

ARTICLE = "https://www.evanmiller.org/how-not-to-sort-by-average-rating.html"


@pytest.fixture(
    params=[pytest.param(look, id=str(look), marks=pytest.mark.journey) for look in (LOOKS[0], LOOKS[2])]
)
def page(request, chromium, site):
    with window(chromium, site, request.param) as found:
        found.number, found.has_scripts = LOOKS.index(request.param), request.param.scripts
        yield found


def test_a_comment_typed_before_the_login_then_a_vote_a_reply_an_edit_and_a_deletion(page, site):
    page.goto("/search/?q=evanmiller.org")
    page.click(f"main .row:has(a[href='{ARTICLE}']) a.comments")
    text = f"Typed before the login, {page.number}"
    page.fill("main form.write textarea", text)
    page.click("main form.write button")
    log_in(page, site, "demo")
    expect(page.locator("main textarea")).to_have_value(text)
    page.click("main form.form button[type=submit]")
    own = page.locator(".comment", has_text=text)
    expect(own).to_be_visible()
    assert page.url.endswith(f"#{own.get_attribute('id')}")

    other = page.locator("main .thread > .comment").first
    head, prose = other.locator("> .head"), other.locator("> details > .prose")
    vote = other.locator("> details > .foot button.vote")
    with page.expect_response("**/vote/"):
        vote.click()
    expect(vote).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(vote).to_have_attribute("aria-pressed", "true")
    expect(own.locator("button.vote")).to_have_count(0)
    other.locator("> details > summary").click()
    expect(prose).to_be_hidden()
    expect(head.locator(".within")).to_be_visible()
    other.locator("> details > summary").click()
    expect(prose).to_be_visible()

    answer = f"A reply, {page.number}"
    own.locator("a.reply").click()
    form = own.locator("form.write") if page.has_scripts else page.locator("main form.form")
    form.locator("textarea").fill(answer)
    form.locator("button[type=submit]").click()
    reply = own.locator(".thread .comment")
    expect(reply).to_contain_text(answer)

    reply.locator(".foot a[href$='/edit/']").click()
    page.fill("main textarea", f"{answer}, edited")
    page.click("main form.form button[type=submit]")
    expect(reply).to_contain_text(f"{answer}, edited")
    reply.locator(".foot a[href$='/delete/']").click()
    page.click("main form.form button[type=submit]")
    expect(page.locator(".message.success")).to_be_visible()
    expect(reply).to_have_count(0)
