"""Changes that need no page load: saved and hidden articles, the theme."""

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


def menu_of(page, article):
    return page.locator(f"{row_of(article)} summary")


def expect_saved(page, article, is_saved):
    button = page.locator(f"{row_of(article)} button.saving")
    expect(button).to_have_attribute("aria-pressed", str(is_saved).lower())
    expect(button).to_have_text("Saved" if is_saved else "Save")


def is_kept(site_store, page, article):
    member = page.evaluate("() => fetch('/settings/data/').then(answer => answer.json())")
    return article in [one["id"] for one in member["saved"]]


# Saving


def test_an_article_is_saved_in_place_and_announced(page, site_store, article):
    held = hold(page, SAVED)
    page.evaluate("scrollTo(0, 300)")
    menu_of(page, article).focus()
    before = page.evaluate("scrollY")

    for key in ("Enter", "Tab", "Enter"):
        page.keyboard.press(key)

    expect_saved(page, article, True)
    wait_for(page, lambda: held)
    held[0].continue_()
    expect(page.locator("#live")).to_have_text("Saved for later.")
    expect_saved(page, article, True)
    expect(menu_of(page, article)).to_be_focused()
    expect(page.locator("details[open]")).to_have_count(0)
    assert page.evaluate("scrollY") == before
    assert page.url.endswith("/newest/")
    assert is_kept(site_store, page, article)
    page.unroute(SAVED)

    page.keyboard.press("s")

    expect(page.locator("#live")).to_have_text("No longer saved.")
    expect_saved(page, article, False)
    assert not is_kept(site_store, page, article)


# Hiding


@pytest.mark.parametrize("member", ["demo", None], ids=["member", "reader"])
@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_an_article_is_hidden_where_it_is_and_shown_again(chromium, site, member, scripts):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "java_script_enabled": scripts}
    with window(chromium, site, member, **phone) as page:
        page.goto("/newest/")
        row = page.locator("#" + page.locator(".row").nth(15).get_attribute("id"))
        title = row.locator("h2").inner_text()
        row.locator("summary").tap()
        top = row.bounding_box()["y"]

        row.get_by_role("button", name="Hide", exact=True).tap()

        expect(row.locator(".gone")).to_contain_text("Hidden")
        expect(row.get_by_text(title, exact=True)).to_be_hidden()
        if scripts:
            expect(row.get_by_role("button", name="Undo")).to_be_focused()
            assert row.bounding_box()["y"] == top
        assert 0 < row.bounding_box()["y"] < 844 < page.evaluate("document.body.scrollHeight")
        assert page.evaluate("scrollY") > 500
        row.get_by_role("button", name="Undo").tap()
        expect(row.locator(".gone")).to_have_count(0)
        expect(row.get_by_text(title, exact=True)).to_be_visible()
        assert 0 < row.bounding_box()["y"] < 844
        page.reload()
        expect(row.locator("h2")).to_have_text(title)


def test_a_key_hides_an_article_and_a_button_what_is_like_it(page, site_store, article):
    others = [posted(site_store, title) for title in ("More", "Again")]
    page.goto("/newest/")
    page.keyboard.press("j")
    page.keyboard.press("h")
    row = page.locator(row_of(others[1]))
    expect(row.get_by_role("button", name="Undo")).to_be_focused()

    row.get_by_role("button", name="Hide “example.org”").click()

    expect(page.locator("#live")).to_have_text("Articles from example.org are now hidden from your lists.")
    for other in (article, others[0]):
        expect(page.locator(row_of(other))).to_be_hidden()
    row.get_by_role("button", name="Hide “example.org”").click()
    expect(page.locator(row_of(article))).to_be_visible()
    page.keyboard.press("j")
    assert page.evaluate("document.activeElement.closest('.row').id") == f"article-{others[0]}"
    page.keyboard.press("k")
    expect(row.get_by_role("button", name="Undo")).to_be_focused()
    row.get_by_role("button", name="Undo").click()
    expect(row.locator("h2 a")).to_be_focused()
    page.reload()
    expect(page.locator(".gone")).to_have_count(0)


def test_the_page_of_what_to_hide_leads_back_to_the_place(page, site_store):
    hosts = [f"host-{n}.example" for n in range(20)]
    for host in hosts:
        site_store.articles.post(77, "somebody", f"At {host}", f"https://{host}/", ())
    page.goto("/newest/")
    row = page.locator(".row", has_text=f"At {hosts[2]}")
    row.locator("summary").click()
    before = page.evaluate("scrollY")
    row.get_by_role("link", name="Hide more like this").click()
    page.get_by_role("button", name=f"Hide “{hosts[2]}”").click()

    page.wait_for_url("**/newest/**")
    expect(row).to_have_count(0)
    assert page.evaluate("scrollY") == before > 0


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
