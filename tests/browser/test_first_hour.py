"""An owner's first hour by keyboard alone: from the empty site to the first sign-up, with and without scripts."""

import re
import shutil

import pytest
from playwright.sync_api import expect

from tests.browser.windows import tab_to, window
from tests.site_process import Site

pytestmark = pytest.mark.browser

PASSWORD = "a long secret 71"


@pytest.fixture
def empty_site(chromium, tmp_path, static_files):
    data_dir = tmp_path / "data"
    shutil.copytree(static_files.parent, data_dir)
    site = Site(data_dir, RECENT_PAGES="off", WEB_WORKERS="1")  # others see new texts seconds later
    site.wait_until_up()
    yield site
    site.stop()


def follow(page, target):
    tab_to(page, target)
    page.keyboard.press("Enter")


def write(page, name, text):
    tab_to(page, page.locator(f"main [name={name}]"))
    page.keyboard.press("Control+A")
    page.keyboard.type(text)


def save(page):
    with page.expect_event("load"):  # not `expect_navigation`: a form with drafts first changes only the address
        follow(page, page.locator("main .actions button[type=submit]").first)


def go_to(page, step):
    page.goto("/")
    with page.expect_navigation():
        follow(page, page.locator(".first-hour").get_by_role("link", name=step))


def sign_up(page, name):
    write(page, "username", name)
    for field in ("password1", "password2"):
        write(page, field, PASSWORD)


@pytest.mark.parametrize(
    "scripts", [True, pytest.param(False, marks=pytest.mark.long)], ids=["scripts", "no scripts"]
)
def test_an_owner_sets_up_the_site_without_a_mouse(chromium, empty_site, scripts):
    link = re.search(r"http://\S+/administration/first/#\S+", empty_site.told())[0]
    with window(chromium, empty_site, java_script_enabled=scripts) as page:
        page.goto("/")
        expect(page.locator("main")).to_contain_text("make admin")
        page.goto(link)
        if not scripts:
            write(page, "code", link.partition("#")[2])
        assert page.locator("[name=code]").input_value() == link.partition("#")[2]
        sign_up(page, "owner")
        save(page)
        expect(page.locator("main")).to_contain_text("You are this site’s administrator.")

        go_to(page, "Name and look")
        write(page, "SITE_NAME", "Kiln")
        write(page, "SITE_MARK", "K")
        save(page)
        expect(page.locator(".site-name")).to_have_text(re.compile(r"K\s+Kiln"))
        go_to(page, "Who can sign up")
        save(page)
        go_to(page, "Groups")
        page.wait_for_url("**/moderation/groups/")
        write(page, "title", "Glazes")
        save(page)
        for text in ("welcome", "rules"):
            go_to(page, "Welcome and rules")
            with page.expect_navigation():
                follow(page, page.locator(f"main a[href='/administration/texts/{text}/en/']"))
            write(page, "text", f"Our **{text}**.")
            save(page)
        page.goto("/")
        expect(page.locator(".first-hour")).to_contain_text("4 of 6 steps are done.")
        with page.expect_navigation():
            follow(page, page.get_by_role("button", name="Hide this list"))
        expect(page.locator(".first-hour")).to_have_count(0)

        page.goto("/post/")
        write(page, "link", "https://example.org/celadon")
        write(page, "title", "The first post")
        save(page)
        page.wait_for_url("**/articles/*/")

    with window(chromium, empty_site, java_script_enabled=scripts) as page:
        page.goto("/")
        expect(page.locator(".welcome strong")).to_have_text("welcome")
        expect(page.locator("main")).to_contain_text("The first post")
        with page.expect_navigation():
            follow(page, page.get_by_role("banner").get_by_role("link", name="Sign up"))
        sign_up(page, "potter")
        save(page)
        expect(page.get_by_role("banner")).to_contain_text("potter")
        page.goto("/administration/")
        expect(page.locator("h1")).not_to_have_text("Administration")
