"""Single-key shortcuts: moving, voting, opening, turning pages; and where they are off."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.windows import posted, shown_ids, window

pytestmark = pytest.mark.browser

ELSEWHERE = re.compile(r"^https?://(?!localhost)")


@pytest.fixture
def page(chromium, site):
    with window(chromium, site, "demo") as found:
        found.context.route(ELSEWHERE, lambda route: route.fulfill(body="elsewhere", content_type="text/html"))
        found.goto("/newest/")
        yield found


def press(page, *keys):
    for key in keys:
        page.keyboard.press(key)


def focused_row(page):
    return page.evaluate("document.activeElement.closest('.row')?.id")


def test_j_and_k_move_the_focus_from_row_to_row_and_stop_at_the_ends(page):
    ids = [f"article-{number}" for number in shown_ids(page)]
    moves = [("j", 0), ("j", 1), ("j", 2), ("k", 1), ("k", 0), ("k", 0), ("j", 1)]

    for key, place in moves:
        press(page, key)
        assert focused_row(page) == ids[place]
    press(page, *["j"] * 30)
    assert focused_row(page) == ids[-1]
    assert page.evaluate("document.activeElement.matches('h2 a:focus-visible')")


def test_j_and_k_move_over_the_comments_of_an_article_and_a_votes_for_one(page, site_store):
    article = posted(site_store, "Talked about")
    post = site_store.comments.post
    first = post(article, 77, "somebody", "First")
    reply = post(article, 78, "another", "Reply", parent=first)
    last = post(article, 78, "another", "Last")
    page.goto(f"/articles/{article}/?comments=oldest")

    def focused():
        return page.evaluate("document.activeElement.id")

    for key, comment in (("j", first), ("j", reply), ("j", last), ("j", last), ("k", reply), ("k", first)):
        press(page, key)
        assert focused() == f"comment-{comment}"
    press(page, "a")
    expect(page.locator(f"#comment-{first} > details > .foot button.vote")).to_have_attribute(
        "aria-pressed", "true"
    )
    expect(page.locator(f"#comment-{reply} button.vote")).to_have_attribute("aria-pressed", "false")
    page.click(f"#comment-{first} > details > summary")
    page.focus(f"#comment-{first}")
    press(page, "j")
    assert focused() == f"comment-{last}"


def test_holding_a_key_down_counts_as_one_press(page, site_store):
    number = site_store.articles.post(77, "somebody", "Held", "https://example.org/held").id
    page.goto("/newest/")
    press(page, "j")
    for key in ("a", "j"):
        for _ in range(4):
            page.keyboard.down(key)
        page.keyboard.up(key)

    expect(page.locator("#live")).to_contain_text("Your vote was counted")
    assert site_store.articles.get(number).votes == 2
    assert focused_row(page) == f"article-{shown_ids(page)[1]}"


@pytest.mark.parametrize(("key", "path"), [("f", "/"), ("n", "/newest/"), ("h", "/hot/")])
def test_g_and_a_letter_open_the_lists(page, key, path):
    page.goto("/groups/")

    press(page, "g", key)

    page.wait_for_url(lambda address: re.sub("https?://[^/]+", "", address) == path)


def test_a_slash_focuses_the_search_field_or_opens_the_search_page(page):
    press(page, "/")
    if not page.locator("header input[name=q]").count():
        page.wait_for_url("**/search/")
    page.goto("/search/?q=redis")
    page.evaluate("document.activeElement.blur()")

    press(page, "/")

    expect(page.locator("input[name=q]").first).to_be_focused()
    expect(page.locator("input[name=q]").first).to_have_value("redis")


@pytest.mark.parametrize("way", ["key", "button"])
def test_the_table_of_keys_opens_holds_the_focus_and_returns_it(page, way):
    table = page.get_by_role("dialog", name="Shortcuts")
    press(page, "j")
    row = focused_row(page)
    if way == "key":
        press(page, "?")
    else:
        page.get_by_role("contentinfo").get_by_role("button", name="Shortcuts").click()
    expect(table).to_be_visible()
    expect(table.get_by_role("row")).to_have_count(11)

    address = page.url
    press(page, "j", "a", "?", "n", "/")
    page.evaluate("fetch('/healthz').then(answer => answer.text())")
    assert page.evaluate("document.activeElement.closest('dialog') !== null")
    assert page.url == address
    press(page, "Escape")

    expect(table).to_be_hidden()
    if way == "key":
        assert focused_row(page) == row
    press(page, "?")
    table.get_by_role("button", name="Close").press("Enter")
    expect(table).to_be_hidden()


FIELDS = [
    "<input>", "<input type='checkbox'>", "<textarea></textarea>", "<select><option>j</select>",
    "<p contenteditable>x</p>", "<p contenteditable='plaintext-only'><b>x</b></p>",
]  # fmt: skip


@pytest.mark.parametrize("field", FIELDS)
def test_keys_are_off_in_text_fields(page, field):
    page.evaluate("html => document.querySelector('main').insertAdjacentHTML('afterbegin', html)", field)
    page.evaluate("document.querySelector('main').firstElementChild.focus()")

    press(page, "j", "?")

    assert focused_row(page) is None
    expect(page.locator("#keys")).to_be_hidden()


def test_keys_used_by_an_input_method_are_ignored(page):
    page.evaluate(
        "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'j', isComposing: true, bubbles: true}))"
    )

    assert focused_row(page) is None
