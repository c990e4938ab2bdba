"""Two tabs of one browser: a page opened before the login works after it with at most one more click."""

import pytest
from playwright.sync_api import expect

from tests.browser.looks import send
from tests.browser.windows import log_in

pytestmark = pytest.mark.browser


@pytest.fixture(params=[True, False], ids=["scripts", "no scripts"])
def tabs(request, chromium, site):
    """Two tabs, with the problems the browser would log, such as a failing script."""
    context = chromium.new_context(base_url=f"http://localhost:{site.port}", java_script_enabled=request.param)
    found, problems = [context.new_page(), context.new_page()], []
    for tab in found:
        tab.on("pageerror", lambda error: problems.append(str(error)))
    yield found
    context.close()
    assert problems == []


def test_a_post_whose_session_ended_comes_back_after_the_login(tabs, site, site_store):
    tab, _other = tabs
    link = f"https://example.org/kept/{site_store.store.now()}"
    log_in(tab, site, "demo")
    tab.goto("/post/")
    tab.fill("main [name=title]", "“Kept” & <sound>")
    tab.fill("main [name=link]", link)
    tab.context.clear_cookies(name="sessionid")

    tab.click("main form.form button[type=submit]")
    expect(tab.locator("main .notice")).to_contain_text("Log in")
    logins = (site.data_dir / "demo-logins.txt").read_text().split()
    send(tab, username="demo", password=logins[logins.index("demo") + 1])

    expect(tab.locator("main [name=title]")).to_have_value("“Kept” & <sound>")
    tab.click("main form.form button[type=submit]")
    expect(tab.locator("main h1")).to_have_text("“Kept” & <sound>")
