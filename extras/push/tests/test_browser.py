"""Notifications in a browser: the button that turns them on, and what the worker does with them."""

import json
import shutil

import pytest
from playwright.sync_api import expect

from tests.browser import axe
from tests.browser.conftest import VOTES_PER_DAY, chromium, filled_data  # noqa: F401 - fixtures
from tests.browser.windows import follow_in_account_menu, log_in, wait_for, window
from tests.push_service import FakeBrowser
from tests.site_process import Site

pytestmark = pytest.mark.browser

READY = "navigator.serviceWorker.ready.then(({ active }) => active.state)"
CONTROLLED = "() => navigator.serviceWorker.controller !== null"


@pytest.fixture(scope="module")
def site(chromium, tmp_path_factory, filled_data):  # noqa: F811
    """A site that pushes."""
    data_dir = tmp_path_factory.mktemp("site") / "data"
    shutil.copytree(filled_data, data_dir)
    running = Site(data_dir, VOTES_PER_DAY=VOTES_PER_DAY, WEB_PUSH="on")
    running.wait_until_up()
    yield running
    running.stop()


@pytest.fixture
def page(chromium, site):  # noqa: F811
    with window(chromium, site, service_workers="allow", permissions=["notifications"]) as found:
        found.goto("/")
        found.evaluate(READY)
        found.wait_for_function(CONTROLLED)
        yield found


def test_a_logout_closes_notifications_and_ends_the_subscription(page, site):
    log_in(page, site, "demo")
    worker = page.context.service_workers[0]
    worker.evaluate("""() => {
      self.ended = [];
      registration.getNotifications = async () => [{ close: () => ended.push("shown") }];
      PushManager.prototype.getSubscription = async () => ({ unsubscribe: async () => ended.push("coming") });
    }""")

    follow_in_account_menu(page, "form[action='/logout/'] button")

    wait_for(page, lambda: worker.evaluate("() => ended") == ["shown", "coming"])


SUBSCRIBE = """(subscription) => {
  PushManager.prototype.getSubscription = async () => null;
  PushManager.prototype.subscribe = async (wanted) => {
    window.wanted = wanted;
    if (!subscription) throw new DOMException("no", "NotAllowedError");
    return { toJSON: () => subscription };
  };
}"""


def turn_on(page, path, subscription):
    page.add_init_script(f"({SUBSCRIBE})({json.dumps(subscription)})")
    page.goto(path)
    page.evaluate(READY)
    page.get_by_role("button", name="Turn on notifications in this browser").click()


@pytest.mark.parametrize("path", ["/settings/push/", "/inbox/"])
def test_a_button_turns_notifications_on_in_this_browser(page, site, path):
    log_in(page, site, "demo")

    turn_on(page, path, FakeBrowser(path.strip("/")).subscription)

    expect(page.locator(".message")).to_have_text("Notifications are on in this browser.")
    assert page.url.partition("#")[0].endswith(path)
    page.goto("/settings/push/")
    row = page.get_by_role("row").filter(has_text="This browser")
    expect(row).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 800})
    assert row.get_by_role("button").bounding_box()["height"] < 48, "one line"
    axe.load(page)
    assert axe.violations(page) == []
    row.get_by_role("button").press("Enter")
    expect(page.locator(".message")).to_have_text("Notifications are off on that device.")
    expect(page.get_by_role("row").filter(has_text="This browser")).to_have_count(0)


def test_the_worker_shows_a_message_so_that_a_later_one_takes_its_place(page, site):
    """The browser without windows shows no notification: what the worker asks it for is noted."""
    worker, tools, registrations = page.context.service_workers[0], page.context.new_cdp_session(page), []
    worker.evaluate("""() => {
      self.shown = [];
      registration.showNotification = async (title, options) => { shown.push({ title, ...options }); };
    }""")
    tools.on("ServiceWorker.workerRegistrationUpdated", lambda told: registrations.extend(told["registrations"]))
    tools.send("ServiceWorker.enable")
    wait_for(page, lambda: registrations)
    where = {"origin": f"http://localhost:{site.port}", "registrationId": registrations[-1]["registrationId"]}
    message = {"title": "One", "body": "A line", "tag": "inbox", "renotify": True, "data": "/inbox/"}

    tools.send("ServiceWorker.deliverPushMessage", {**where, "data": json.dumps(message)})

    wait_for(page, lambda: worker.evaluate("() => shown"))
    assert worker.evaluate("() => shown") == [message]


def test_a_click_on_a_notification_opens_its_page(page, site):
    worker = page.context.service_workers[0]
    opened = worker.evaluate("""async () => {
      let address = "", closed = false;
      clients.openWindow = async (wanted) => { address = wanted; };
      const event = new ExtendableEvent("notificationclick");
      event.notification = { close: () => { closed = true; }, data: "/comments/1/" };
      dispatchEvent(event);
      return [address, closed];
    }""")

    assert opened == ["/comments/1/", True]
