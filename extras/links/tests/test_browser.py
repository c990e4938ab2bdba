"""The form fills in the title of a link by itself, and never what a member has typed."""

import json
import shutil

import pytest
from django.template.loader import render_to_string
from playwright.sync_api import expect

from extras.links.asking import LinkInfo
from tests.browser.conftest import chromium, filled_data  # noqa: F401 - fixtures
from tests.browser.windows import window
from tests.site_process import Site

pytestmark = pytest.mark.browser

LINK = "https://example.org/story"
FOUND = LinkInfo(
    "found",
    "A found title",
    canonical="https://example.org/the-story",
    language="en",
    description="What it is about.",
)


@pytest.fixture(scope="module")
def site(chromium, tmp_path_factory, filled_data):  # noqa: F811
    """A site with the switch on. Nothing is fetched: the tests answer what the form's script asks."""
    data_dir = tmp_path_factory.mktemp("titles") / "data"
    shutil.copytree(filled_data, data_dir)
    running = Site(data_dir, FETCH_TITLES="on")
    running.wait_until_up()
    yield running
    running.stop()


@pytest.fixture
def page(chromium, site):  # noqa: F811
    with window(chromium, site, "demo") as found:
        yield found


def answered(page, *infos):
    """Answer the script with these, one after the other; return what it asked."""
    asked, rest = [], list(infos)

    def answer(route):
        asked.append(route.request.post_data)
        info = rest.pop(0) if len(rest) > 1 else rest[0]
        shown = render_to_string("links/found.html", {"found": info})
        route.fulfill(body=json.dumps({"state": info.state, "title": info.title, "html": shown}))

    page.route("**/post/link-info/", answer)
    return asked


def test_the_title_comes_by_itself_and_the_rest_by_a_click(page):
    asked = answered(page, LinkInfo("fetching"), FOUND)
    page.goto("/post/")

    page.get_by_label("Link").fill(LINK)
    page.get_by_label("Link").blur()

    expect(page.get_by_label("Title")).to_have_value("A found title")
    assert len(asked) == 2
    page.get_by_role("button", name="Use this address").click()
    expect(page.get_by_label("Link")).to_have_value("https://example.org/the-story")
    page.get_by_role("button", name="Use as text").click()
    expect(page.locator("[name=text]")).to_have_value("What it is about.")
    expect(page.get_by_role("button", name="Fetch title")).to_be_hidden()


def test_a_link_is_asked_for_once_it_is_complete(page):
    asked = answered(page, FOUND)
    page.goto("/post/")

    page.get_by_label("Link").press_sequentially(LINK)
    assert asked == []
    page.get_by_label("Title").focus()

    expect(page.get_by_label("Title")).to_have_value("A found title")
    assert len(asked) == 1


def test_a_typed_title_stays_and_the_found_one_is_offered(page):
    answered(page, FOUND)
    page.goto(f"/post/?link={LINK}&title=From+the+bookmark")

    page.get_by_role("button", name="Use this title").wait_for()
    expect(page.get_by_label("Title")).to_have_value("From the bookmark")
    page.get_by_role("button", name="Use this title").click()
    expect(page.get_by_label("Title")).to_have_value("A found title")
