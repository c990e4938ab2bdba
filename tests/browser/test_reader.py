"""The journey of a reader without an account: lists, an article, a group, and back to the same place."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.looks import EVERY_LOOK, window

pytestmark = pytest.mark.browser


@pytest.fixture(params=EVERY_LOOK)
def page(request, chromium, site):
    with window(chromium, site, request.param) as found:
        found.look = request.param
        yield found


def go(page, address):
    """Follow the link in the header."""
    if not page.is_visible(f"header a[href='{address}']"):
        page.click(".lists summary")  # a phone has no room for it
    page.click(f"header a[href='{address}'] >> visible=true")
    page.wait_for_url(f"**{address}")


def times(page):
    return page.locator("main .rows .row time").evaluate_all("all => all.map(one => one.dateTime)")


def test_a_reader_browses_lists_articles_and_groups(page):
    page.goto("/")
    expect(page.locator("html")).to_have_attribute("lang", re.compile(page.look.language, re.IGNORECASE))
    expect(page.locator("main .rows .row")).to_have_count(25)

    link = page.locator("main .row:has(.groups) a.comments").nth(15)
    article = link.get_attribute("href")
    link.scroll_into_view_if_needed()
    place = page.locator("html").bounding_box()["y"]
    link.click()
    page.wait_for_url(f"**{article}")
    expect(page.locator("main h1")).to_be_visible()
    page.go_back()
    expect(page.locator("main .rows .row")).to_have_count(25)
    assert abs(page.locator("html").bounding_box()["y"] - place) < 60

    page.goto(article)
    group = page.locator("main .groups a").first
    name = group.inner_text()
    group.click()
    page.wait_for_url("**/groups/*/")
    expect(page.locator("main h1")).to_be_visible()
    assert page.locator("main .row .groups a", has_text=name).count() == page.locator("main .row").count()

    go(page, "/newest/")
    shown = times(page)
    assert shown == sorted(shown, reverse=True)
    page.click("main .pager a[rel=next]")
    expect(page.locator("main .pager a[rel=prev]")).to_be_visible()
    assert times(page)[0] <= shown[-1]

    go(page, "/hot/")
    page.click("main .tabs a[href='?range=24h']")
    expect(page.locator("main .tabs [aria-current]")).to_have_attribute("href", "?range=24h")
