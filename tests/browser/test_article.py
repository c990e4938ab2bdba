"""The page of an article with a discussion: calm, and its first comment in sight on a phone."""

import pytest
from playwright.sync_api import expect

from tests.browser.windows import tab_to, window
from tests.content import DISCUSSED

pytestmark = pytest.mark.browser

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


@pytest.fixture
def open_article(chromium, site):
    """Open the discussed article, which has a link."""
    windows = []

    def begin(member=None, **options):
        held = window(chromium, site, member, **PHONE | options)
        page = held.__enter__()
        windows.append(held)
        page.goto(f"/articles/{DISCUSSED}/")
        return page

    yield begin
    for held in windows:
        held.__exit__(None, None, None)


@pytest.mark.parametrize("member", [None, "demo", "demo-moderator"])
def test_the_first_comment_is_in_sight_on_a_phone(open_article, member):
    page = open_article(member)

    box = page.locator(".thread > .comment > details > .prose").first.bounding_box()

    assert box["y"] <= 480
    assert box["y"] + box["height"] <= 844
    expect(page.locator(".write textarea")).to_be_hidden()


@pytest.mark.parametrize("has_scripts", [True, False], ids=["script", "no script"])
def test_a_comment_says_why_it_is_where_it_is_on_demand_only(open_article, has_scripts):
    page = open_article(java_script_enabled=has_scripts)
    comment = page.locator(".thread > .comment").first
    why, menu = comment.get_by_text("Why is it here?").first, comment.locator(".foot summary").first

    expect(page.get_by_text("How comments are sorted")).to_have_count(1)
    expect(why).to_be_hidden()
    expect(comment.locator(".reply").first).to_be_visible()
    menu.click()
    expect(why).to_be_visible()
    assert "80% confidence" in comment.locator(".why-here").first.inner_text()


def test_menus_and_folds_of_comments_have_names_and_obey_the_keyboard(open_article):
    page = open_article("demo", viewport={"width": 1280, "height": 900}, has_touch=False, is_mobile=False)
    comment = page.locator(".thread > .comment").first
    author, menu = comment.locator(".poster").first.inner_text(), comment.locator(".foot summary").first

    expect(comment.locator("> details > summary")).to_have_accessible_name(f"Comment by {author} and its replies")
    expect(menu).to_have_accessible_name(f"More about the comment by {author}")
    tab_to(page, comment.locator(".reply").first)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(comment.get_by_role("link", name="Flag").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(comment.get_by_role("link", name="Flag").first).to_be_hidden()
    expect(menu).to_be_focused()


def test_a_link_in_a_menu_closes_it(open_article):
    page = open_article("demo")
    reply = page.locator(".thread .thread .comment").first
    reply.locator(".foot summary").first.click()

    reply.get_by_role("link", name="The comment it replies to").first.evaluate(
        "link => { link.onclick = (event) => event.preventDefault(); link.click(); }"  # the focus stays
    )

    expect(reply.locator(".foot .drop").first).not_to_have_attribute("open", "")


@pytest.mark.parametrize("path", ["", "/", "/groups/databases/"])
def test_print_has_what_there_is_to_read_and_nothing_to_press(open_article, path):
    paper = {"viewport": {"width": 720, "height": 1000}, "has_touch": False, "is_mobile": False}
    page = open_article("demo-moderator", **paper)
    if path:
        page.goto(path)
    page.emulate_media(media="print")

    assert page.locator(":is(button, summary, input, textarea, nav):visible").count() == 0
    shown = page.locator("body").inner_text()
    for word in ("Reply", "Flag", "Hide", "Save", "More", "Atom"):
        assert word not in shown.split()
    parts = ".row h2, .row .points, .row .comments" if path else "h1, .article .points, .thread .prose"
    for part in page.locator(parts).all():
        expect(part).to_be_visible()
        assert part.evaluate("found => found.scrollWidth <= found.clientWidth || !found.clientWidth")
        assert part.bounding_box()["x"] >= 0
    if not path:
        address = page.locator(".article .facts").evaluate("found => getComputedStyle(found, '::after').content")
        assert address.strip('"').endswith(page.evaluate("location.pathname"))


@pytest.mark.parametrize("width", [320, 390, 1280])
def test_an_open_menu_stays_on_the_page(open_article, width):
    page = open_article("demo-moderator", viewport={"width": width, "height": 844})
    for menu in page.locator(".foot .drop").all():
        menu.locator("summary").click()
        box = menu.locator("ul").bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        page.keyboard.press("Escape")
