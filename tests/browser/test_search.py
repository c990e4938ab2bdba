"""The search in a browser: results while the reader types, and through the form without JavaScript."""

import pytest
from playwright.sync_api import expect

from tests.browser.windows import hold, settle, wait_for

pytestmark = pytest.mark.browser

PAGE = "<title>Busy</title><section id=found data-told=Busy>Busy</section>"
"""A page returned instead of the requested data."""


@pytest.fixture(params=[True, False], ids=["with JavaScript", "without JavaScript"])
def page(request, chromium, site):
    context = chromium.new_context(
        java_script_enabled=request.param,
        base_url=f"http://localhost:{site.port}",
        viewport={"width": 1280 if request.param else 390, "height": 800},
    )
    problems = []
    page = context.new_page()
    page.on("console", lambda message: "Failed to load" in message.text or problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: "localhost" in request.url or problems.append(request.url))
    page.goto("/newest/")
    page.title_of_one = page.inner_text("main li.row h2 a >> nth=0")
    page.goto("/search/")
    yield page
    context.close()
    assert problems == []


def words_of(title):
    return [
        word
        for word in title.replace(",", " ").replace(":", " ").split()
        if word.isascii() and word.isalpha() and len(word) > 4
    ][:2]


def test_the_form_finds_articles_and_highlights_words(page):
    page.fill("#search [name=q]", " ".join(words_of(page.title_of_one)))
    page.click("#search button")

    expect(page.locator("#found li.row h2", has_text=page.title_of_one)).to_have_count(1)
    assert page.locator("#found mark").count() >= 1
    assert "q=" in page.url
    assert page.evaluate("document.body.scrollWidth") <= page.viewport_size["width"]
    page.click("#found >> text=Newest")
    page.wait_for_url(lambda address: "order=time" in address)
    assert page.input_value("#search [name=q]") == " ".join(words_of(page.title_of_one))


@pytest.mark.parametrize("page", [True], indirect=True)
def test_results_follow_the_typed_words(page):
    word = max(words_of(page.title_of_one), key=len)
    requests = []
    page.on("request", lambda request: "/search/" in request.url and requests.append(request.url))

    page.locator("#search [name=q]").press_sequentially(word, delay=20)

    expect(page.locator("#found li.row h2", has_text=page.title_of_one)).to_have_count(1)
    expect(page.locator("#told")).to_have_text(page.locator("#found").get_attribute("data-told"))
    page.wait_for_url(f"**/search/?q={word}")
    assert word in page.title()
    expect(page.locator("#told")).to_have_text("")  # once announced, it appears on the page once
    expect(page.locator("#found")).not_to_have_attribute("aria-busy", "true")
    assert page.evaluate("document.activeElement.name") == "q"
    assert page.input_value("#search [name=q]") == word
    assert len(requests) < len(word)

    page.locator("#search [name=q]").press_sequentially("qqqqq")
    expect(page.locator("#found")).to_contain_text("No results")
    page.reload()
    expect(page.locator("#found")).to_contain_text("No results")


@pytest.mark.parametrize("page", [True], indirect=True)
def test_text_being_composed_is_not_searched_for(page):
    requests = []
    page.on("request", lambda request: "/search/" in request.url and requests.append(request.url))
    page.clock.install()

    page.evaluate(
        """() => {
          const field = document.querySelector("#search [name=q]");
          field.value = "shu";
          field.dispatchEvent(new InputEvent("input", { bubbles: true, isComposing: true }));
        }"""
    )
    page.clock.run_for(400)
    settle(page)
    assert requests == []

    with page.expect_request("**/search/?q=*"):
        page.evaluate(
            """() => {
              const field = document.querySelector("#search [name=q]");
              field.value = "数";
              field.dispatchEvent(new CompositionEvent("compositionend", { bubbles: true }));
            }"""
        )


FOUND = "**/search/?q=*"


@pytest.mark.parametrize("page", [True], indirect=True)
@pytest.mark.parametrize(
    "broken", [lambda route: route.abort(), lambda route: route.fulfill(status=503, body=PAGE)]
)
def test_a_search_that_fails_shows_no_results_of_other_words(page, broken):
    page.fill("#search [name=q]", "redis")
    expect(page.locator("#found li.row").first).to_be_visible()
    expect(page.locator("#failed")).to_be_hidden()
    page.route(FOUND, broken)

    page.fill("#search [name=q]", "python")

    expect(page.get_by_role("alert")).to_contain_text("The search failed.")
    expect(page.locator("#found")).to_have_text("")
    expect(page.locator("#found")).not_to_have_attribute("aria-busy", "true")
    assert page.url.endswith("/search/?q=python")
    page.unroute(FOUND)
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#found li.row").first).to_be_visible()
    expect(page.locator("#failed")).to_be_hidden()
    assert page.input_value("#search [name=q]") == "python"


def find_without_the_form(page, words):
    with page.expect_response(FOUND):
        page.fill("#search [name=q]", words)
    page.wait_for_url(FOUND)


@pytest.mark.parametrize("page", [True], indirect=True)
@pytest.mark.parametrize("fails", [False, True], ids=["found", "failed"])
def test_return_addresses_contain_the_words_that_are_shown(page, fails):
    if fails:
        page.route(FOUND, lambda route: route.abort())
        page.fill("#search [name=q]", "redis 数据库")
        expect(page.locator("#failed")).to_be_visible()
        page.unroute(FOUND)
    else:
        find_without_the_form(page, "redis 数据库")
    address = page.url

    assert (
        page.eval_on_selector(".account a", "link => new URL(link.href).searchParams.get('next')")
        == (address.partition(str(page.evaluate("location.origin")))[2])
    )
    page.locator(".switch [name=language][value=zh-hans]").click()
    page.wait_for_url(f"{address}#chosen-language")
    assert page.input_value("#search [name=q]") == "redis 数据库"


@pytest.mark.parametrize("page", [True], indirect=True)
def test_the_focus_is_not_lost_when_results_are_replaced(page):
    find_without_the_form(page, "redis")
    held = hold(page, FOUND)
    page.locator("#search [name=q]").press_sequentially(" ")
    page.locator("#found h2 a").first.focus()
    wait_for(page, lambda: held)
    held[0].continue_()

    expect(page.locator("#found")).not_to_have_attribute("aria-busy", "true")
    expect(page.locator("#found h2 a").first).to_be_focused()
    find = hold(page, "**/search/?q=qqqqq")
    page.locator("#search [name=q]").evaluate(
        "field => { field.value = 'qqqqq'; field.dispatchEvent(new InputEvent('input', {bubbles: true})) }"
    )
    wait_for(page, lambda: find)
    find[0].continue_()
    expect(page.locator("#found")).to_contain_text("No results")
    expect(page.locator("#search [name=q]")).to_be_focused()
