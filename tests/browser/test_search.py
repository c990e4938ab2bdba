"""The search in a browser: results as one types, and by the form where there is no JavaScript."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


@pytest.fixture(params=[True, False], ids=["with JavaScript", "without JavaScript"])
def page(request, chromium, site):
    context = chromium.new_context(
        java_script_enabled=request.param,
        base_url=f"http://localhost:{site.port}",
        viewport={"width": 1280 if request.param else 390, "height": 800},
    )
    problems = []
    page = context.new_page()
    page.on("console", lambda message: problems.append(message.text))
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: "localhost" in request.url or problems.append(request.url))
    page.goto("/newest/")
    page.title_of_one = page.inner_text("main li.row h2 a >> nth=0")
    page.goto("/search/")
    yield page
    context.close()
    assert problems == []


def words_of(title):
    return [word for word in title.replace(",", " ").replace(":", " ").split() if word.isalnum()][:2]


def test_the_form_finds_and_marks(page):
    page.fill("#search [name=q]", " ".join(words_of(page.title_of_one)))
    page.click("#search button")

    expect(page.locator("#found li.row h2", has_text=page.title_of_one)).to_have_count(1)
    assert page.locator("#found mark").count() >= 1
    assert "q=" in page.url
    assert page.evaluate("document.body.scrollWidth") <= page.viewport_size["width"]
    page.click("#found >> text=Newest first")
    assert "order=time" in page.url
    assert page.input_value("#search [name=q]") == " ".join(words_of(page.title_of_one))


@pytest.mark.parametrize("page", [True], indirect=True)
def test_results_follow_what_is_typed(page):
    word = words_of(page.title_of_one)[0]
    requests = []
    page.on("request", lambda request: requests.append(request.url))

    page.locator("#search [name=q]").press_sequentially(word, delay=20)

    expect(page.locator("#found li.row h2", has_text=page.title_of_one)).to_have_count(1)
    expect(page.locator("#told")).to_have_text(page.locator("#found").get_attribute("data-told"))
    page.wait_for_url(f"**/search/?q={word}")
    assert page.evaluate("document.activeElement.name") == "q"
    assert page.input_value("#search [name=q]") == word
    assert len([url for url in requests if "/search/" in url]) < len(word)

    page.locator("#search [name=q]").press_sequentially("qqqqq")
    expect(page.locator("#found")).to_contain_text("Nothing was found")
    page.reload()
    expect(page.locator("#found")).to_contain_text("Nothing was found")


@pytest.mark.parametrize("page", [True], indirect=True)
def test_text_that_is_still_being_composed_is_not_looked_for(page):
    requests = []
    page.on("request", lambda request: requests.append(request.url))

    page.evaluate(
        """() => {
          const field = document.querySelector("#search [name=q]");
          field.value = "shu";
          field.dispatchEvent(new InputEvent("input", { bubbles: true, isComposing: true }));
        }"""
    )
    page.wait_for_timeout(400)
    assert requests == []

    with page.expect_request("**/search/?q=*"):
        page.evaluate(
            """() => {
              const field = document.querySelector("#search [name=q]");
              field.value = "数";
              field.dispatchEvent(new CompositionEvent("compositionend", { bubbles: true }));
            }"""
        )
