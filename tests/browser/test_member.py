"""A member's session: a click before signing up, votes both ways, a post, logging out."""

import pytest
from playwright.sync_api import expect

from tests.browser.looks import EVERY_LOOK, LOOKS, send, window
from tests.browser.windows import follow_in_account_menu

pytestmark = pytest.mark.browser

SECRET = "a long secret 71"


@pytest.fixture(params=EVERY_LOOK)
def page(request, chromium, site):
    with window(chromium, site, request.param) as found:
        found.number = LOOKS.index(request.param)
        yield found


def points(page, row):
    return int(page.inner_text(f"{row} .points").split()[0].replace("−", "-"))


def expect_choice(page, row, choice, wanted):
    """Expect the row to show the choice and the points."""
    for name in ("vote", "oppose"):
        pressed = "true" if name == choice else "false"
        expect(page.locator(f"{row} button.{name}")).to_have_attribute("aria-pressed", pressed)
    assert points(page, row) == wanted


def test_a_click_before_signing_up_then_votes_and_a_post(page):
    name = f"dora{page.number}"
    page.goto("/newest/")
    row = "#" + page.get_attribute(f"main .row >> nth={page.number + 9}", "id")
    before = points(page, row)
    page.click(f"{row} button.vote")
    page.click("main a[href^='/signup/']")
    send(page, username=name, password1=SECRET, password2=SECRET, email=f"{name}@example.org")
    page.wait_for_url(f"**/newest/{row}")
    expect_choice(page, row, "vote", before + 1)
    welcome = page.locator(".messages .joined")
    expect(welcome).to_contain_text(name)
    expect(welcome).not_to_contain_text("@example.org")  # no link was sent: the site sends no mail
    expect(welcome).to_be_in_viewport(ratio=1)
    expect(page.locator(row)).to_be_in_viewport(ratio=1)
    assert welcome.bounding_box()["y"] + welcome.bounding_box()["height"] <= page.locator(row).bounding_box()["y"]

    with page.expect_response("**/vote/"):
        page.click(f"{row} button.oppose")
    expect_choice(page, row, "oppose", before - 1)
    page.reload()
    expect_choice(page, row, "oppose", before - 1)
    page.click(f"{row} button.oppose")
    expect_choice(page, row, None, before)

    page.click("header a[href='/post/']")
    send(page, title="", link=f"https://example.org/{name}")
    assert page.url.endswith("/post/")
    page.click("main .fold:has(.group-choice) summary")
    page.check("main [name=groups][value=databases]")
    send(page, title=f"A journey of {name}", link=f"https://example.org/{name}")
    expect(page.locator("main h1")).to_have_text(f"A journey of {name}")
    article = page.url
    row = "#" + page.get_attribute("main article.article", "id")
    expect_choice(page, row, "vote", 1)

    follow_in_account_menu(page, f"a[href='/users/{name}/']")
    expect(page.locator("main .row h2")).to_contain_text(f"A journey of {name}")

    page.goto(article)
    with page.expect_response("**/save/"):
        page.click("main article button.saving")
    expect(page.locator("main article button.saving")).to_have_attribute("aria-pressed", "true")
    page.goto("/mine/saved/")
    expect(page.locator("main .row h2")).to_contain_text(f"A journey of {name}")

    follow_in_account_menu(page, "a[href='/settings/']")
    page.click("main a[href='/settings/mail/']")
    page.click("main a[href='/settings/email/']")
    page.fill("main [name=email]", f"{name}@example.org")
    page.click("main form button[type=submit]")
    expect(page.locator(".message")).to_be_visible()
    expect(page.locator("main")).to_contain_text(f"{name}@example.org")

    follow_in_account_menu(page, "form[action='/logout/'] button")
    expect(page.locator("header a[href^='/login/']")).to_be_visible()
    page.goto(article)
    expect_choice(page, row, None, 1)


def test_a_password_is_shown_on_demand_and_never_as_it_is_sent(chromium, site):
    with window(chromium, site, next(look for look in LOOKS if look.scripts and look.language == "en")) as page:
        page.goto("/login/")
        field, button = page.locator("[name=password]"), page.get_by_role("button", name="Show Password")
        page.fill("[name=username]", "dora")
        field.fill("wrong")
        button.press("Enter")
        expect(field).to_have_attribute("type", "text")
        expect(page.get_by_role("button", name="Hide Password")).to_be_focused()

        page.locator("main form.form").first.evaluate(
            "form => { form.addEventListener('submit', event => event.preventDefault()); form.requestSubmit(); }"
        )

        expect(field).to_have_attribute("type", "password")
