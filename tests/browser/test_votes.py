"""Votes without leaving the page: shown at once, decided by the server."""

import pytest
from playwright.sync_api import expect

from articles.domain.moderation_log import OPERATOR
from tests.browser.windows import hold, log_in, posted, row_of, tab_to, wait_for, window
from tests.store_state import change_article, let_close

pytestmark = pytest.mark.browser

SENT = "**/vote/"


@pytest.fixture
def page(chromium, site):
    with window(chromium, site, "demo") as found:
        yield found


@pytest.fixture
def article(page, site_store):
    """A new article, posted by another member; the page shows the newest list."""
    number = posted(site_store, "Fresh")
    page.goto("/newest/")
    return number


def counts(site_store, article):
    found = site_store.articles.get(article)
    return found.votes, found.opposes


def button(page, article, name):
    return page.locator(f"{row_of(article)} button.{name}")


def expect_row(page, article, points, choice="none"):
    row = page.locator(row_of(article))
    expect(row.locator(".points")).to_contain_text(str(points))
    for name in ("vote", "oppose"):
        expect(row.locator(f"button.{name}")).to_have_attribute("aria-pressed", str(name == choice).lower())


def test_a_vote_appears_at_once_and_the_response_is_announced(page, site_store, article):
    held = hold(page, SENT)

    button(page, article, "vote").click()

    expect_row(page, article, 2, "vote")
    expect(button(page, article, "vote")).to_have_attribute("aria-label", "Vote for “Fresh”")
    assert counts(site_store, article) == (1, 0)
    wait_for(page, lambda: held)
    held[0].continue_()
    expect(page.locator("#live")).to_have_text("Your vote was counted: 2 points now.")
    expect(page.locator("#live")).to_have_attribute("role", "status")
    expect(page.locator(f"{row_of(article)} .points")).to_have_attribute("title", "2 for, 0 against")
    assert counts(site_store, article) == (2, 0)
    assert page.url.endswith("/newest/")


def close(page, site_store, article):
    let_close(site_store, article)


def remove(page, site_store, article):
    site_store.articles.remove(article, OPERATOR, "spam")


def log_out(page, site_store, article):
    page.context.clear_cookies()


def forget_token(page, site_store, article):
    page.locator("[name=csrfmiddlewaretoken]").evaluate_all(
        "all => all.forEach(one => (one.value = 'x'.repeat(64)))"
    )


def answer_with(status):
    return lambda page, site_store, article: page.route(
        SENT, lambda route: route.fulfill(status=status, body="no")
    )


def answer_nonsense(body):
    """Answer 200 without this article's counts: with a page, another article's counts, or nothing."""
    return lambda page, site_store, article: page.route(SENT, lambda route: route.fulfill(status=200, body=body))


ANOTHERS = '{"id": 1, "votes": 5000, "opposes": 0, "choice": "vote", "points": "5,000", "told": "5,000 points"}'


def cut_off(page, site_store, article):
    page.route(SENT, lambda route: route.abort())


@pytest.mark.parametrize(
    ("happens", "reason"),
    [
        (close, "Voting on this article is closed"), (remove, "This article has been removed."),
        (log_out, "You are logged out."), (answer_with(429), "Too many requests"),
        (answer_with(503), "cannot reach its store"), (answer_with(500), "could not be saved"),
        (answer_with(502), "respond"), (answer_with(504), "respond"), (cut_off, "respond"),
        (answer_nonsense("<!doctype html><title>Log in</title>"), "respond"),
        (answer_nonsense("null"), "respond"),
        (answer_nonsense('{"choice": "vote"}'), "respond"),
        (answer_nonsense(ANOTHERS), "respond"),
    ],
)  # fmt: skip
def test_a_refused_vote_is_reverted_and_the_reason_announced(page, site_store, article, happens, reason):
    happens(page, site_store, article)
    before = counts(site_store, article)

    button(page, article, "vote").click()

    expect(page.locator(f"{row_of(article)} .note")).to_contain_text(reason)
    expect(page.locator("#live")).to_contain_text(reason)
    expect_row(page, article, 1)
    assert counts(site_store, article) == before


def test_a_vote_with_a_stale_token_takes_one_more_click(page, site_store, article):
    forget_token(page, site_store, article)

    button(page, article, "vote").click()
    again = page.get_by_role("button", name="Vote for “Fresh”", exact=True)
    expect(page.get_by_role("heading", name="Send this again?")).to_be_visible()
    assert counts(site_store, article) == (1, 0)
    again.click()

    page.wait_for_url(f"**/newest/{row_of(article)}")
    expect_row(page, article, 2, "vote")
    assert counts(site_store, article) == (2, 0)


def test_a_logged_out_member_logs_in_from_the_message_and_the_vote_counts(page, site_store, article, site):
    log_out(page, site_store, article)
    button(page, article, "vote").click()
    page.click(f"{row_of(article)} .note a")

    page.wait_for_url("**/login/?*")
    log_in(page, site, "demo")

    page.wait_for_url(f"**/newest/{row_of(article)}")
    assert counts(site_store, article) == (2, 0)


def test_a_request_with_a_lost_response_is_retried_and_counts_once(page, site_store, article):
    lost = []

    def lose_the_first(route):
        if lost:
            return route.continue_()
        lost.append(route.fetch().status)
        return route.abort()

    page.route(SENT, lose_the_first)

    button(page, article, "vote").click()

    expect(page.locator("#live")).to_contain_text("Your vote was counted: 2 points")
    assert lost == [200]
    assert counts(site_store, article) == (2, 0)


def test_a_vote_is_sent_even_if_the_member_leaves_the_page(page, site_store, article):
    page.evaluate(
        """() => {
            const send = fetch;
            window.outlives = [];
            window.fetch = (where, how) => { if (how) outlives.push(how.keepalive); return send(where, how) };
        }"""
    )

    button(page, article, "vote").click()

    expect(page.locator("#live")).to_contain_text("was counted")
    assert page.evaluate("outlives") == [True]


@pytest.mark.parametrize("language", ["en", "zh-CN"])
def test_the_page_writes_numbers_as_the_server_does(chromium, site, site_store, language):
    number = posted(site_store, "Opposed")
    change_article(site_store, number, {"opposes": 3000})
    with window(chromium, site, "demo", locale=language) as page:
        page.goto("/newest/")
        held, points = hold(page, SENT), page.locator(f"{row_of(number)} .points")
        expect(points).to_contain_text("−2,999")

        button(page, number, "oppose").click()

        expect(points).to_contain_text("−3,000")
        wait_for(page, lambda: held)
        held[0].continue_()
        expect(page.locator("#live")).to_contain_text("−3,000")
        expect(points).to_contain_text("−3,000")


def test_the_last_of_several_quick_choices_wins_with_one_request_at_a_time(page, site_store, article):
    held = hold(page, SENT)
    for name in ("vote", "oppose", "vote", "oppose"):
        button(page, article, name).click()
    expect_row(page, article, 0, "oppose")
    wait_for(page, lambda: held)
    assert len(held) == 1

    held[0].continue_()
    wait_for(page, lambda: len(held) == 2)
    held[1].continue_()

    expect(page.locator("#live")).to_contain_text("Your vote against it was counted")
    assert [route.request.post_data_json["choice"] for route in held] == ["vote", "oppose"]
    assert counts(site_store, article) == (1, 1)
    expect_row(page, article, 0, "oppose")


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_the_focus_stays_on_the_button(page, site_store, article, key):
    button(page, article, "vote").focus()

    with page.expect_response(SENT):
        page.keyboard.press(key)

    expect(button(page, article, "vote")).to_be_focused()
    expect(page.locator("#live")).to_contain_text("was counted")
    expect(button(page, article, "vote")).to_be_focused()


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_without_javascript_every_button_works_by_keyboard(chromium, site, site_store, key):
    number = posted(site_store, "Keys")
    with window(chromium, site, "demo", java_script_enabled=False) as page:
        page.goto("/newest/")
        for name, pressed, wanted in (
            ("vote", "true", (2, 0)), ("oppose", "true", (1, 1)), ("oppose", "false", (1, 0)),
            ("saving", "true", (1, 0)), ("saving", "false", (1, 0)),
        ):  # fmt: skip
            if name == "saving":
                tab_to(page, page.locator(f"{row_of(number)} summary"))
                page.keyboard.press(key)
            tab_to(page, button(page, number, name))
            with page.expect_navigation():
                page.keyboard.press(key)

            assert page.url.endswith(f"/newest/{row_of(number)}")
            expect(button(page, number, name)).to_have_attribute("aria-pressed", pressed)
            assert counts(site_store, number) == wanted
