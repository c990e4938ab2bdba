"""Changes that need no page load: saved articles, the theme, the explanation of a rank."""

import pytest
from playwright.sync_api import expect

from tests.browser.windows import hold, posted, row_of, wait_for, window
from tests.waiting import until

pytestmark = pytest.mark.browser

SAVED = "**/save/"
CHOSEN = "**/preferences/"


@pytest.fixture
def page(chromium, site):
    with window(chromium, site, "demo", viewport={"width": 1280, "height": 800}) as found:
        yield found


@pytest.fixture
def article(page, site_store):
    number = posted(site_store, "Kept")
    page.goto("/newest/")
    return number


def button_of(page, article):
    return page.locator(f"{row_of(article)} button.saving")


def expect_saved(page, article, is_saved):
    button = button_of(page, article)
    expect(button).to_have_attribute("aria-pressed", str(is_saved).lower())
    expect(button).to_have_accessible_name("Saved “Kept”" if is_saved else "Save “Kept”")


def is_kept(site_store, page, article):
    member = page.evaluate("() => fetch('/settings/data/').then(answer => answer.json())")
    return article in [one["id"] for one in member["saved"]]


# Saving


def test_an_article_is_saved_in_place_and_announced(page, site_store, article):
    held = hold(page, SAVED)
    page.evaluate("scrollTo(0, 300)")
    button_of(page, article).focus()
    before = page.evaluate("scrollY")

    page.keyboard.press("Enter")

    expect_saved(page, article, True)
    wait_for(page, lambda: held)
    held[0].continue_()
    expect(page.locator("#live")).to_have_text("Saved for later.")
    expect_saved(page, article, True)
    expect(button_of(page, article)).to_be_focused()
    assert page.evaluate("scrollY") == before
    assert page.url.endswith("/newest/")
    assert is_kept(site_store, page, article)
    page.unroute(SAVED)

    page.keyboard.press("Enter")

    expect(page.locator("#live")).to_have_text("No longer saved.")
    expect_saved(page, article, False)
    assert not is_kept(site_store, page, article)


# The theme and the language


@pytest.mark.parametrize("member", [None, "demo"], ids=["reader", "member"])
def test_the_theme_changes_at_once_and_is_kept(chromium, site, member):
    with window(chromium, site, member, viewport={"width": 1280, "height": 500}) as page:
        page.goto("/newest/")
        held, dark = hold(page, CHOSEN), page.locator(".switch button[value=dark]")
        dark.focus()
        before = page.evaluate("scrollY")

        page.keyboard.press("Enter")

        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        expect(dark).to_have_attribute("aria-pressed", "true")
        expect(page.locator(".switch [name=theme][aria-pressed=true]")).to_have_count(1)
        assert page.locator("meta[name=color-scheme]").get_attribute("content") == "dark"
        wait_for(page, lambda: held)
        with page.expect_response(CHOSEN):
            held[0].continue_()
        expect(dark).to_be_focused()
        assert page.evaluate("scrollY") == before > 0
        page.unroute(CHOSEN)
        page.reload()
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        with page.expect_response(CHOSEN):
            page.locator(".switch [name=theme][value='']").click()
        expect(page.locator("html:not([data-theme])")).to_have_count(1)


def test_the_last_choice_is_kept_even_if_the_reader_leaves_before_it_is_sent(chromium, site):
    with window(chromium, site) as page:
        page.add_init_script(
            "const send = fetch; window.held = 0;"
            "window.fetch = (...all) => all[1]?.method && !held++ ? new Promise(() => {}) : send(...all)"
        )
        page.goto("/newest/")
        page.click(".switch button[value=dark]")
        page.click(".switch button[value=light]")
        assert page.evaluate("held") == 1

        page.goto("/groups/")

        until(lambda: "theme=light" in page.evaluate("document.cookie"))


def test_a_refused_theme_leads_to_the_page_with_the_reason(page, article):
    page.locator("[name=csrfmiddlewaretoken]").evaluate_all(
        "all => all.forEach(one => (one.value = 'x'.repeat(64)))"
    )

    page.click(".switch button[value=dark]")

    page.wait_for_url(CHOSEN)
    expect(page.locator("main h1")).to_be_visible()
