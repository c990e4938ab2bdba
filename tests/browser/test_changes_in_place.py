"""What changes without the page being loaded anew: saved articles, the theme, why an article is where it is."""

import pytest
from playwright.sync_api import expect

from articles.domain.articles import Choice
from tests.browser.windows import hold, row_of, wait_for, window
from tests.waiting import until

pytestmark = pytest.mark.browser

SAVED = "**/save/"
CHOSEN = "**/preferences/"
WHY = "**/why/"
WITHOUT = [False, True]
NAMES = ["without JavaScript", "with JavaScript"]


@pytest.fixture
def page(chromium, site):
    with window(chromium, site, "demo", viewport={"width": 1280, "height": 800}) as found:
        yield found


@pytest.fixture
def article(page, site_store):
    number = site_store.articles.post(77, "somebody", "Kept", f"https://example.org/{site_store.store.now()}").id
    page.goto("/newest/")
    return number


def button_of(page, article):
    return page.locator(f"{row_of(article)} .saving button")


def expect_saved(page, article, is_saved):
    button = button_of(page, article)
    expect(button).to_have_attribute("aria-pressed", str(is_saved).lower())
    expect(button).to_have_accessible_name("Saved “Kept”" if is_saved else "Save for later “Kept”")


def is_kept(site_store, page, article):
    member = page.evaluate("() => fetch('/settings/data/').then(answer => answer.json())")
    return article in [one["id"] for one in member["saved"]]


def top_of(page, selector):
    return page.locator(selector).evaluate("one => one.getBoundingClientRect().top")


# Saving


def test_an_article_is_saved_in_place_and_said_to_be(page, site_store, article):
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


def cut_off(page):
    page.route(SAVED, lambda route: route.abort())


def answer_503(page):
    page.route(SAVED, lambda route: route.fulfill(status=503, body="no"))


def log_out(page):
    page.context.clear_cookies()


@pytest.mark.parametrize(
    ("happens", "reason"),
    [(cut_off, "did not answer"), (answer_503, "cannot reach its store"), (log_out, "You are logged out.")],
)
def test_what_could_not_be_saved_is_taken_back_and_the_reason_said(page, article, happens, reason):
    happens(page)

    button_of(page, article).click()

    expect(page.locator(f"{row_of(article)} .note")).to_contain_text(reason)
    expect(page.locator("#live")).to_contain_text(reason)
    expect_saved(page, article, False)


def test_of_quick_presses_the_last_wins(page, site_store, article):
    held = hold(page, SAVED)
    for _ in range(3):
        button_of(page, article).click()
    wait_for(page, lambda: held)
    held[0].continue_()

    expect(page.locator("#live")).to_have_text("Saved for later.")
    assert len(held) == 1
    expect_saved(page, article, True)
    assert is_kept(site_store, page, article)


def test_presses_while_one_is_on_its_way_are_sent_once_it_is_answered(page, site_store, article):
    held = hold(page, SAVED)
    button_of(page, article).click()
    button_of(page, article).click()
    wait_for(page, lambda: held)
    held[0].continue_()
    wait_for(page, lambda: len(held) == 2)
    expect_saved(page, article, False)
    held[1].continue_()

    expect(page.locator("#live")).to_have_text("No longer saved.")
    expect_saved(page, article, False)
    assert not is_kept(site_store, page, article)


def test_without_javascript_the_row_comes_back_in_the_midst_of_the_window(chromium, site, site_store):
    number = site_store.articles.post(77, "somebody", "Kept", f"https://example.org/{site_store.store.now()}").id
    for other in range(9):
        site_store.articles.post(77, "somebody", "Later", f"https://example.org/{other}/{site_store.store.now()}")
    options = {"java_script_enabled": False, "viewport": {"width": 1280, "height": 800}}
    with window(chromium, site, "demo", **options) as page:
        page.goto("/newest/")

        button_of(page, number).click()

        assert page.url.endswith(f"/newest/{row_of(number)}")
        expect_saved(page, number, True)
        assert 100 < page.locator(row_of(number)).bounding_box()["y"] < 500


# The theme and the language


@pytest.mark.parametrize("member", [None, "demo"], ids=["reader", "member"])
def test_the_theme_changes_at_once_and_stays(chromium, site, member):
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


@pytest.mark.parametrize("member", [None, "demo"], ids=["reader", "member"])
def test_of_themes_in_quick_succession_the_last_wins_and_one_travels_at_a_time(chromium, site, member):
    with window(chromium, site, member) as page:
        page.goto("/newest/")
        held = hold(page, CHOSEN)
        for theme in ("dark", "light", "dark", "light"):
            page.click(f".switch button[value={theme}]")
        expect(page.locator("html")).to_have_attribute("data-theme", "light")
        wait_for(page, lambda: held)
        held[0].continue_()
        wait_for(page, lambda: len(held) == 2)
        with page.expect_response(CHOSEN):
            held[1].continue_()

        expect(page.locator(".switch button[value=light]")).to_have_attribute("aria-pressed", "true")
        assert [route.request.post_data.rpartition("theme=")[2] for route in held] == ["dark", "light"]
        assert ("theme=light" in page.evaluate("document.cookie")) == (member is None)
        page.unroute(CHOSEN)
        page.reload()
        expect(page.locator("html")).to_have_attribute("data-theme", "light")
        with page.expect_response(CHOSEN):
            page.click(".switch button[value='']")


def test_what_was_chosen_last_is_kept_even_if_the_page_is_left_before_it_was_sent(chromium, site):
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


def test_a_theme_that_could_not_be_kept_is_taken_back(chromium, site):
    with window(chromium, site) as page:
        page.goto("/")
        page.route(CHOSEN, lambda route: route.abort())

        with page.expect_event("requestfailed"):
            page.click(".switch button[value=dark]")

        expect(page.locator("html:not([data-theme])")).to_have_count(1)
        expect(page.locator("#chosen-theme")).to_have_attribute("aria-pressed", "true")


def test_a_refused_theme_leads_to_the_page_that_says_why(page, article):
    page.locator("[name=csrfmiddlewaretoken]").evaluate_all(
        "all => all.forEach(one => (one.value = 'x'.repeat(64)))"
    )

    page.click(".switch button[value=dark]")

    page.wait_for_url(CHOSEN)
    expect(page.locator("main h1")).to_be_visible()


@pytest.mark.parametrize("javascript", WITHOUT, ids=NAMES)
@pytest.mark.parametrize(("name", "value"), [("language", "zh-hans"), ("theme", "dark")])
def test_who_switches_in_the_foot_stays_in_the_foot(chromium, site, javascript, name, value):
    options = {"java_script_enabled": javascript, "viewport": {"width": 1280, "height": 500}}
    with window(chromium, site, **options) as page:
        page.goto("/newest/")
        page.locator(f".switch [name={name}][value={value}]").focus()

        page.keyboard.press("Enter")

        button = page.locator(f".switch [name={name}][value={value}][aria-pressed=true]")
        expect(button).to_be_focused()
        expect(button).to_be_in_viewport()


def test_in_the_settings_the_page_follows_so_that_its_fields_do_too(page):
    page.goto("/settings/")

    page.click(".switch button[value=light]")

    page.wait_for_url("**/settings/#chosen-theme")
    expect(
        page.locator("main [name=theme][value=light]:checked, main [name=theme] [value=light]:checked")
    ).to_have_count(1)
    page.click(".switch [name=theme][value='']")
    expect(page.locator("html:not([data-theme])")).to_have_count(1)


# Why it is here


def test_why_an_article_is_here_follows_ones_vote(page, site_store, article):
    page.goto(f"/articles/{article}/")
    why = page.locator(".why")
    expect(why).to_contain_text("its 1 point ")
    page.click(".why > details > summary >> nth=0")
    views = site_store.articles.get(article).pv

    with page.expect_response(WHY):
        page.click("article button.vote")

    expect(why).to_contain_text("its 2 points ")
    expect(page.locator(".why > details >> nth=0")).to_have_attribute("open", "")
    assert page.locator(".why > details[open]").count() == 1
    assert site_store.articles.get(article).pv == views


def test_the_focus_stays_in_what_is_told_anew(page, article):
    page.goto(f"/articles/{article}/")
    held = hold(page, WHY)
    page.click("article button.vote")
    wait_for(page, lambda: held)
    page.locator(".why > details > summary").first.focus()

    held[0].continue_()

    expect(page.locator(".why")).to_contain_text("its 2 points ")
    expect(page.locator(".why > details > summary").first).to_be_focused()


def test_nothing_is_asked_while_the_counts_are_those_it_was_told_of(page, site_store, article):
    site_store.votes.cast(article, 990_001, Choice.VOTE)
    page.goto(f"/articles/{article}/")
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/why/" in request.url else None)
    page.route("**/vote/", lambda route: route.abort())

    page.click("article button.vote")

    expect(page.locator("#live")).to_contain_text("did not answer")
    assert asked == []


def test_an_explanation_that_does_not_come_leaves_the_former(page, article):
    page.goto(f"/articles/{article}/")
    page.route(WHY, lambda route: route.fulfill(status=503, body="no"))

    with page.expect_response(WHY):
        page.click("article button.vote")

    expect(page.locator("#live")).to_contain_text("is counted")
    expect(page.locator(".why")).to_contain_text("its 1 point ")
