"""Moderators' actions and what readers see of them: groups, removal with a reason, restoration, the log."""

import pytest
from playwright.sync_api import expect

from tests.browser.looks import EVERY_LOOK, LOOKS, send, window

pytestmark = pytest.mark.browser


@pytest.fixture(params=EVERY_LOOK)
def page(request, chromium, site):
    with window(chromium, site, request.param) as found:
        found.number = LOOKS.index(request.param)
        found.reader = lambda: window(chromium, site, request.param)
        yield found


def log_in(page, site):
    logins = (site.data_dir / "demo-logins.txt").read_text().split()
    page.goto("/login/")
    send(page, username="demo-moderator", password=logins[logins.index("demo-moderator") + 1])
    expect(page.locator(".account summary")).to_be_visible()


def tool(page, name):
    page.click(".article .foot summary")
    page.click(f".article .foot a[href$='/{name}/']")


def test_groups_removal_restoration_and_the_log(page, site):
    log_in(page, site)
    article, group = f"/articles/{page.number + 3}/", f"journeys-{page.number}"

    page.goto("/groups/")
    page.click("main a[href='/moderation/groups/']")
    send(page, title=f"Journeys {page.number}")
    page.wait_for_url(f"**/groups/{group}/")
    expect(page.locator("main .empty")).to_be_visible()

    page.goto(article)
    title = page.inner_text("main h1")
    tool(page, "groups")
    page.check(f"main [name=groups][value={group}]")
    send(page, new_group=f"Ways {page.number}", reason="a group of its own")
    for title_of_group in (f"Journeys {page.number}", f"Ways {page.number}"):
        expect(page.locator("main .headline .groups a", has_text=title_of_group)).to_be_visible()
    page.goto(f"/groups/{group}/")
    expect(page.locator("main .row h2")).to_contain_text(title)

    page.goto(article)
    tool(page, "remove")
    send(page, reason=f"an advertisement {page.number}")
    expect(page.locator("main h1 s")).to_have_text(title)
    with page.reader() as reader:
        reader.goto(article)
        expect(reader.locator("main .message")).to_contain_text(f"an advertisement {page.number}")
        reader.goto(f"/groups/{group}/")
        expect(reader.locator("main .empty")).to_be_visible()

    page.goto(article)
    tool(page, "restore")
    send(page, reason=f"a mistake {page.number}")
    expect(page.locator("main h1 a")).to_have_text(title)

    page.click("footer a[href='/moderation/']")
    entries = page.locator("main .log .entry")
    expect(entries.nth(0)).to_contain_text(f"a mistake {page.number}")
    expect(entries.nth(1)).to_contain_text(f"an advertisement {page.number}")
    expect(entries.nth(2)).to_contain_text("a group of its own")
    expect(entries.nth(2)).to_contain_text(f"Journeys {page.number}")
