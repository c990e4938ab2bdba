"""The views that a browser with JavaScript reports."""

import json
import time
from itertools import count

import pytest

pytestmark = pytest.mark.browser

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:{0}.0) Gecko/20100101 Firefox/{0}.0"
"""Says so, since the browser of the tests calls itself a headless one, which is a bot."""

_versions = count(140)  # another one for each test, which makes another visitor


@pytest.fixture
def context(chromium, site):
    found = chromium.new_context(
        base_url=f"http://localhost:{site.port}", user_agent=FIREFOX.format(next(_versions))
    )
    found.route("https://**", lambda route: route.fulfill(body="elsewhere", content_type="text/html"))
    found.route("http://*.example/**", lambda route: route.fulfill(body="elsewhere", content_type="text/html"))
    yield found
    found.close()


@pytest.fixture
def page(context):
    problems = []
    page = context.new_page()
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield page
    assert problems == []


def numbers(site, article):
    status, body = site.get(f"/api/articles/{article}")
    assert status == 200
    found = json.loads(body)
    return found["pv"], found["uv"]


def settles(site, article, wanted):
    """Return the numbers once they match, or the current ones after a minute."""
    end = time.monotonic() + 60
    while (found := numbers(site, article)) != wanted and time.monotonic() < end:
        pass
    return found


def first_link(page):
    """Return a link to an article, and the article's number."""
    page.goto("/newest/")
    link = page.locator("main a[data-article]").first
    return link, int(link.get_attribute("data-article"))


@pytest.mark.parametrize("follow", ["click", "key", "middle button"])
def test_following_an_articles_link_in_a_list_counts_as_a_view(page, site, follow):
    link, article = first_link(page)
    pv, uv = numbers(site, article)

    with page.expect_request("**/api/views"):
        match follow:
            case "click":
                link.click()
            case "key":
                link.press("Enter")
            case _:
                link.click(button="middle")

    assert settles(site, article, (pv + 1, uv + 1)) == (pv + 1, uv + 1)


def test_a_prerendered_page_counts_as_a_view_once_it_is_shown(page, site):
    before = numbers(site, 1)
    page.add_init_script("Object.defineProperty(Document.prototype, 'prerendering', {get: () => true})")
    page.set_extra_http_headers({"Sec-Purpose": "prefetch;prerender"})
    page.goto("/articles/1/")
    assert numbers(site, 1) == before
    page.set_extra_http_headers({})

    with page.expect_request("**/api/views") as sent:
        page.evaluate("document.dispatchEvent(new Event('prerenderingchange'))")

    assert sent.value.response().json()["counted"]
    assert numbers(site, 1) == (before[0] + 1, before[1] + 1)


def test_an_article_page_loaded_from_the_server_sends_nothing(page, site):
    sent = []
    page.on("request", lambda request: sent.append(request.url) if "/api/views" in request.url else None)

    page.goto("/articles/1/", wait_until="networkidle")

    assert sent == []
