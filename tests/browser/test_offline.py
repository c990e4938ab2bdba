"""The worker of the browser: the last pages when the site cannot be reached."""

import json
import shutil

import pytest
from playwright.sync_api import expect

from tests.browser import axe
from tests.browser.conftest import VOTES_PER_DAY
from tests.browser.windows import follow_in_account_menu, log_in, wait_for, window
from tests.site_process import Site

pytestmark = pytest.mark.browser

KEPT = """async () => {
  const found = [];
  for (const name of await caches.keys())
    for (const { url } of await (await caches.open(name)).keys()) found.push([name, new URL(url).pathname]);
  return found;
}"""
READY = "navigator.serviceWorker.ready.then(({ active }) => active.state)"
CONTROLLED = "() => navigator.serviceWorker.controller !== null"


@pytest.fixture(scope="module")
def site(chromium, tmp_path_factory, filled_data):
    """A site of its own."""
    data_dir = tmp_path_factory.mktemp("site") / "data"
    shutil.copytree(filled_data, data_dir)
    running = Site(data_dir, VOTES_PER_DAY=VOTES_PER_DAY)
    running.wait_until_up()
    yield running
    running.stop()


@pytest.fixture
def page(chromium, site):
    with window(chromium, site, service_workers="allow", permissions=["notifications"]) as found:
        found.goto("/")
        found.evaluate(READY)
        found.wait_for_function(CONTROLLED)
        yield found


def kept(page):
    return sorted(map(tuple, page.evaluate(KEPT)))


def wait_until_kept(page, *expected):
    wait_for(page, lambda: kept(page) == sorted(expected))


def test_a_page_that_was_opened_is_shown_offline_with_its_time(page):
    page.goto("/newest/")
    title = page.locator("main .row h2").first.inner_text()
    wait_until_kept(page, ("pages of 0", "/newest/"))
    assert page.locator("main .message.warning").count() == 0

    page.context.set_offline(True)
    page.goto("/newest/")

    note = page.get_by_role("status").filter(has_text="You are offline")
    expect(note).to_contain_text("This page is from")
    assert page.locator("main .row h2").first.inner_text() == title
    time = note.locator("time")
    shown = time.get_attribute("datetime")
    assert abs(page.evaluate("at => Date.now() - new Date(at)", shown)) < 120_000
    assert time.inner_text() != shown, "in the reader's form"
    assert page.evaluate("getComputedStyle(document.querySelector('.site-header > div')).display") == "grid"
    axe.load(page)
    assert axe.violations(page) == []
    page.context.set_offline(False)
    page.goto("/newest/")
    assert page.locator("main .message.warning").count() == 0


def test_no_page_of_a_member_is_shown_to_another_or_after_the_logout(page, site):
    log_in(page, site, "demo")
    page.goto("/newest/")
    number = page.evaluate("document.documentElement.dataset.reader")
    assert number != "0"
    wait_until_kept(page, (f"pages of {number}", "/"), (f"pages of {number}", "/newest/"))
    for private in ("/inbox/", "/settings/", "/post/", "/mine/saved/"):
        page.goto(private)
    page.goto("/hot/")
    mine = [(f"pages of {number}", path) for path in ("/", "/newest/", "/hot/")]
    wait_until_kept(page, *mine)

    follow_in_account_menu(page, "form[action='/logout/'] button")
    expect(page.get_by_role("link", name="Log in")).to_be_visible()
    wait_for(page, lambda: {name for name, _path in kept(page)} == {"pages of 0"})
    page.context.set_offline(True)
    page.goto("/newest/")
    expect(page.get_by_role("heading", name="These pages are kept")).to_be_visible()
    assert {link.get_attribute("href") for link in page.locator("main li a").all()} == {
        f"http://localhost:{site.port}/hot/"
    }
    assert page.locator("header .me").count() == 0
    axe.load(page)
    assert axe.violations(page) == []
    page.click("main li a")
    expect(page.get_by_role("status").filter(has_text="This page is from")).to_be_visible()
    page.context.set_offline(False)


def test_a_session_that_ends_elsewhere_and_another_member_leave_nothing_behind(page, site):
    log_in(page, site, "demo")
    page.goto("/newest/")
    former = page.evaluate("document.documentElement.dataset.reader")
    wait_for(page, lambda: (f"pages of {former}", "/newest/") in kept(page))
    page.context.clear_cookies(name="sessionid")

    log_in(page, site, "demo-moderator")
    page.goto("/inbox/")  # not kept itself

    wait_for(page, lambda: all(name != f"pages of {former}" for name, _path in kept(page)))


def test_a_page_that_arrives_late_is_not_kept_for_the_next_reader(page, site):
    """A former reader's page, which was asked for before the logout, ends after it."""
    worker = page.context.service_workers[0]
    late = """async () => {
      const html = (reader) => `<!doctype html><html lang="en" data-reader="${reader}"><p data-offline="Copy">`;
      const answer = (reader) => new Response(html(reader), { headers: { "Content-Type": "text/html" } });
      const first = ++asked, second = ++asked;
      await keep(new URL("/next", location).href, second, answer(0));
      await keep(new URL("/former", location).href, first, answer(7));
    }"""

    worker.evaluate(late)

    assert kept(page) == [("pages of 0", "/next")]


def test_forms_votes_and_downloads_are_as_without_the_worker(page, site):
    log_in(page, site, "demo")
    page.goto("/newest/")
    button = page.locator("main .row button[aria-pressed=false]").first
    name = button.get_attribute("aria-label")
    button.click()
    expect(page.locator(f"main .row button[aria-label='{name}']").first).to_have_attribute("aria-pressed", "true")
    page.goto("/post/")
    page.fill("main [name=title]", "Posted through the worker")
    page.fill("main [name=link]", "https://example.org/through-the-worker")
    page.click("main form.form button[type=submit]:not([name])")
    page.wait_for_url("**/articles/*/**")
    expect(page.get_by_role("heading", name="Posted through the worker")).to_be_visible()
    page.goto("/settings/account/")
    with page.expect_download() as download:
        page.click("a[download]")
    assert json.loads(download.value.path().read_text())["format"] == 1
    page.goto("/hot")
    assert page.url.endswith("/hot/"), "a redirect"
