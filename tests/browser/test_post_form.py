"""Help in forms: when posting an article and creating a token."""

import random
from contextlib import suppress

import pytest
from playwright.sync_api import expect

from articles.text.lines import InvalidInput, clean_title
from tests.browser.windows import hold, posted, settle, wait_for, window

pytestmark = pytest.mark.browser


@pytest.fixture
def page(chromium, site):
    with window(chromium, site, "demo") as found:
        found.goto("/post/")
        yield found


DELICATE = (
    "ae \t\u0085\u200b\u200c\u200d\u202e\ufeff\ufe0f\ufe0e\u0301\u0316\u2800\u1160\ue000\U000e0041"
    "↔👩🏽❤می\u094dकष가\u1100\u1161"
)
"""Characters whose company decides what becomes of them."""


def length_of(text):
    """Return the length as the server counts it; None for text it refuses, such as accents piled on one letter."""
    with suppress(InvalidInput):
        return len(clean_title(text))


def test_the_counter_counts_any_text_as_the_server_does(page):
    dice = random.Random(300)
    texts = ["".join(dice.choices(DELICATE, k=dice.randint(1, 12))) + "x" for _ in range(2000)]

    counted = page.locator("[name=title]").evaluate(
        """(field, texts) => texts.map(text => {
            field.value = text;
            field.dispatchEvent(new Event("input"));
            return field.nextElementSibling.textContent;
        })""",
        texts,
    )

    wrong = [
        (text, said)
        for text, said in zip(texts, counted, strict=True)
        if (length := length_of(text)) and said != f"{length} of 300 characters"
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("form", "name", "limit"),
    [("groups", "reason", 500), ("groups", "new_group", 60), ("remove", "reason", 500), ("edit", "title", 300)],
)
def test_every_field_with_a_limit_is_counted_and_none_is_cut(chromium, site, site_store, form, name, limit):
    number = posted(site_store, "Counted")
    with window(chromium, site, "demo-moderator") as page:
        page.goto(f"/articles/{number}/{form}/")
        page.locator("main").evaluate("main => main.querySelectorAll('details').forEach(one => one.open = true)")
        page.focus(f"main [name={name}]")
        page.keyboard.press("Control+A")
        page.keyboard.insert_text("😀" * limit)

        expect(page.locator(f"main [name={name}] + .counter")).to_have_text(f"{limit} of {limit} characters")
        assert page.locator(f"main [name={name}]").evaluate("field => field.checkValidity()")


def test_a_text_is_previewed_while_the_member_types(page, site_store):
    hostile = "<img src=x onerror=alert(1)> [a](javascript:alert(1)) *drawn* @demo-moderator"
    said = []
    page.on("dialog", lambda dialog: said.append(dialog.message) or dialog.dismiss())
    page.fill("[name=title]", "A text post")
    page.click(".fold summary")
    page.fill("[name=text]", hostile)

    expect(page.locator(".preview em")).to_have_text("drawn")
    expect(page.locator(".preview a")).to_have_attribute("href", "/users/demo-moderator/")
    page.click("main .actions button[type=submit]:not([name])")
    page.wait_for_url("**/articles/*/")

    assert page.locator(".text em").inner_text() == "drawn"
    assert page.locator(".text img").count() == 0
    assert said == []


def test_the_count_is_read_aloud_only_near_the_limit(page):
    expect(page.locator("[name=title] + .counter")).to_have_attribute("aria-live", "off")

    page.fill("[name=title]", "a" * 290)

    expect(page.locator("[name=title] + .counter")).to_have_attribute("aria-live", "polite")


def test_a_late_response_is_not_shown_for_another_link(page, site_store):
    site_store.articles.post(77, "somebody", "Late", "https://example.org/late")
    held = hold(page, "**/known/?*")
    page.fill("[name=link]", "https://example.org/late")
    wait_for(page, lambda: held)
    page.fill("[name=link]", "https://example.org/later")
    wait_for(page, lambda: len(held) == 2)

    for route in reversed(held):
        with page.expect_response("**/known/?*") as told:
            route.continue_()
        told.value.finished()

    settle(page)
    assert page.locator(".known").inner_html() == ""


def test_groups_are_filtered_and_ticked_by_keyboard(page, site_store):
    page.click(".fold:has(.group-choice) summary")
    field = page.get_by_label("Find a group")
    boxes = page.locator(".boxes li:visible")
    everything = boxes.count()
    page.check("main >> text=Security")

    field.press_sequentially("DATA")
    expect(boxes).to_have_text(["Databases", "Security"])
    expect(page.locator(".found")).to_have_text("Groups shown: 1")
    field.press("Enter")

    expect(page.get_by_label("Databases")).to_be_checked()
    expect(boxes).to_have_count(everything)
    expect(field).to_be_focused()
    field.press("Enter")
    assert page.url.endswith("/post/")
    field.press_sequentially("nothing like it")
    expect(boxes).to_have_text(["Databases", "Security"])
    field.press("Escape")
    expect(boxes).to_have_count(everything)

    page.fill("[name=title]", "Filtered")
    page.fill("[name=link]", "https://example.org/filtered")
    page.click("main .actions button")
    page.wait_for_url("**/articles/*/")
    assert page.locator("main .groups a").all_inner_texts() == ["Databases", "Security"]


@pytest.mark.parametrize(("typed", "found"), [("dátabàses", "Databases"), (" databases ", "Databases")])
def test_groups_are_found_in_any_spelling(page, typed, found):
    page.click(".fold:has(.group-choice) summary")
    page.get_by_label("Find a group").fill(typed)

    expect(page.locator(".boxes li:visible")).to_have_text([found])


def test_enter_ticks_nothing_during_composition_or_with_several_matches(page):
    page.click(".fold:has(.group-choice) summary")
    field = page.get_by_label("Find a group")
    field.fill("e")
    assert page.locator(".boxes li:visible").count() > 1
    field.press("Enter")
    assert page.locator(".boxes input:checked").count() == 0
    expect(field).to_have_value("e")

    field.fill("databases")
    field.dispatch_event("keydown", {"key": "Enter", "isComposing": True})

    assert page.locator(".boxes input:checked").count() == 0
    expect(field).to_have_value("databases")


@pytest.mark.parametrize("may_copy", [True, False])
def test_the_button_copies_a_new_token_if_the_browser_can(chromium, site, may_copy):
    with window(chromium, site, "demo", permissions=["clipboard-read", "clipboard-write"]) as page:
        if not may_copy:
            page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
        page.goto("/settings/programs/")
        issuing = page.locator("form[action='/settings/tokens/']")
        issuing.locator("[name=name]").fill(f"backup {may_copy}")
        issuing.locator("button").click()
        button = page.locator("[data-copied]")
        if not may_copy:
            expect(button).to_be_hidden()
            return

        button.click()

        expect(button).to_have_text("Copied")
        assert page.evaluate("navigator.clipboard.readText()") == page.input_value("#token")
