"""The ranking lab in a browser, with and without JavaScript."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import chromium, filled_data, site  # noqa: F401 - fixtures
from tests.browser.windows import log_in

pytestmark = pytest.mark.browser

REFUSED = "400 (Bad Request)"  # what a browser logs of a form whose values are refused, which is meant


@pytest.fixture(params=[True, False], ids=["with JavaScript", "without JavaScript"])
def page(request, chromium, site):  # noqa: F811
    """A moderator's window, on a phone where there is no JavaScript."""
    width = 1280 if request.param else 390
    context = chromium.new_context(
        java_script_enabled=request.param,
        base_url=f"http://localhost:{site.port}",
        viewport={"width": width, "height": 900},
    )
    problems = []
    page = context.new_page()
    page.on(
        "console",
        lambda message: (
            any(one in message.text for one in (REFUSED, "Autofocus")) or problems.append(message.text)
        ),
    )
    page.on("pageerror", lambda error: problems.append(str(error)))
    log_in(page, site, "demo-moderator")
    page.with_javascript = request.param
    yield page
    context.close()
    assert problems == []


def choose(page, name, value):
    """Set the value with the slider, one arrow key press at a time, or in the number field without one."""
    if not page.with_javascript:
        assert page.locator("input[type=range]").count() == 0
        page.fill(f"#knobs [name={name}]", value)
        page.click("#knobs button[type=submit]")
        page.wait_for_url(lambda address: f"{name}={value}&" in address)
        return
    slider = page.get_by_role("slider", name="Votes per day" if name == "votes_per_day" else name)
    with page.expect_response(lambda answer: "/lab/?" in answer.url):
        slider.press("Home")
    expect(page.locator("#told")).to_have_text("Preview updated.")


def first_titles(page, path="/"):
    page.goto(path)
    return page.locator("main li.row h2 a").all_inner_texts()[:10]


def test_other_parameters_are_previewed_applied_and_rolled_back(page):
    before = first_titles(page)
    page.goto("/lab/")
    assert page.locator("[name=reason]").count() == 0

    choose(page, "votes_per_day", "1")

    assert page.input_value("#knobs [name=votes_per_day]") == "1"
    assert "votes_per_day=1&" in page.url
    assert "votes per day 200 → 1" in page.inner_text("#outcome")
    foreseen = page.locator(".both section >> nth=1").locator("a.title").all_inner_texts()
    assert len(foreseen) == 25
    assert foreseen[:10] != before
    assert page.evaluate("document.body.scrollWidth") <= page.viewport_size["width"]

    page.fill("[name=reason]", "points alone")
    page.click("text=Apply to the whole site")
    expect(page.locator("main")).to_contain_text("The parameters have been applied.")
    assert first_titles(page) == foreseen[:10]
    page.click("footer >> text=Moderation log")
    expect(page.locator("main .log .entry").first).to_contain_text("points alone")

    page.goto("/lab/")
    page.click("text=Revert to version 1")
    expect(page.locator("main")).to_contain_text("The parameters have been applied.")
    assert first_titles(page) == before


@pytest.mark.parametrize("page", [True], indirect=True)
def test_sliders_and_number_fields_stay_in_sync(page):
    page.goto("/lab/")
    number, slider = page.locator("#knobs [name=gamma]"), page.get_by_role("slider", name="γ")

    number.fill("2.5")
    expect(slider).to_have_attribute("aria-valuetext", "2.5")
    assert slider.input_value() == slider.get_attribute("max")
    with page.expect_response(lambda answer: "/lab/?" in answer.url):
        slider.press("ArrowLeft")

    expect(number).to_have_value("2.49")
    expect(slider).to_have_attribute("aria-valuetext", "2.49")
