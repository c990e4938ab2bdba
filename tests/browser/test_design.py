"""The measurable parts of the design."""

import pytest

from tests.browser.windows import window

pytestmark = pytest.mark.browser

TOUCH = 44
DESK = {"viewport": {"width": 1280, "height": 900}}
SHIFTS = """(since = 0) => new Promise(done => {
  const nodes = one => one.sources.map(({node}) => node?.outerHTML?.slice(0, 100));
  const later = list => list.getEntries().filter(one => one.startTime > since);
  const told = list => done(later(list).map(one => [one.value, ...nodes(one)]));
  new PerformanceObserver(told).observe({type: "layout-shift", buffered: true});
  setTimeout(() => done([]), 300);
})"""
"""How far each thing moved by itself since a time in ms, and what moved."""

IN_PIECES = """async () => {
  const tags = (await (await fetch(location)).text()).split(/(?=<)/);
  document.open();
  while (tags.length) {
    document.write(tags.splice(0, 11).join(""));
    await new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn)));
  }
  document.close();
}"""
"""Write the page again in pieces, as over a slow network: the browser draws a frame after every eleven tags."""


@pytest.fixture
def open_page(chromium, site):
    contexts = []

    def begin(path="/", **options):
        contexts.append(chromium.new_context(base_url=f"http://localhost:{site.port}", **options))
        page = contexts[-1].new_page()
        page.goto(path)
        return page

    yield begin
    for context in contexts:
        context.close()


def phone(**more):
    return {"viewport": {"width": 390, "height": 844}, "has_touch": True, **more}


SIZES = pytest.mark.parametrize("options", [DESK, phone()], ids=["desk", "phone"])


def sizes(page, selector):
    """Return the heights and widths of all visible elements that match the selector."""
    boxes = [one.bounding_box() for one in page.locator(selector).filter(visible=True).all()]
    return [box["height"] for box in boxes], [box["width"] for box in boxes]


@SIZES
def test_every_button_is_large_enough_for_the_pointer(open_page, options):
    """`probes.smallTargets` looks at fingers' targets, which reach around what is drawn."""
    page = open_page("/newest/", **options)
    for selector in (".votes button", ".row summary", ".row .groups a", ".row .poster", ".row .host"):
        heights, widths = sizes(page, selector)
        assert (min(heights) >= 24, min(widths) >= 24) == (True, True), selector
    for selector in (".menu a", ".pager a", ".site-name"):
        assert min(sizes(page, selector)[0]) >= TOUCH, selector


@SIZES
@pytest.mark.parametrize(("member", "path"), [(None, "/"), ("demo", "/"), ("demo", "/hot/"), ("demo", "/active/")])
def test_a_screen_shows_many_rows_of_the_same_height(chromium, site, options, member, path):
    """14 rows beside a keyboard and 6 on a phone; only a title, and a long host on a phone, take further lines."""
    with window(chromium, site, member, **options) as page:
        page.goto(path)
        rows = page.locator(".row")
        if path != "/active/":  # there are fewer discussions
            assert rows.nth(13 if options is DESK else 5).evaluate(
                "one => one.getBoundingClientRect().bottom <= innerHeight"
            )
        assert len(set(sizes(page, ".row")[0])) <= (2 if options is DESK else 4)
        for host in page.locator(".row .host").filter(visible=True).all():
            assert host.evaluate("one => one.scrollWidth <= one.clientWidth + 1"), host.inner_text()


STOPS = """() => [...document.querySelectorAll("a[href], button, input:not([type=hidden]), summary")].filter(
  one => one.checkVisibility() && one.tabIndex >= 0 && !one.disabled).length"""


@pytest.mark.parametrize(("member", "most"), [("demo", 180), (None, 180)])
def test_the_tab_key_passes_a_page_of_rows_in_few_steps(chromium, site, member, most):
    with window(chromium, site, member, **DESK) as page:
        page.goto("/")
        assert page.locator(".row").count() == 25
        assert page.evaluate(STOPS) <= most


@SIZES
def test_the_vote_is_to_the_left_of_the_title(open_page, options):
    page = open_page("/newest/", **options)
    row = page.locator(".row").first
    up, number, down, title = (
        row.locator(part).bounding_box() for part in (".vote", ".points", ".oppose", "h2 a >> nth=0")
    )

    if options is DESK:
        assert number["x"] + number["width"] <= up["x"]
        assert up["y"] + up["height"] <= down["y"] + 1
    else:
        assert up["y"] + up["height"] <= number["y"] + 1
        assert number["y"] + number["height"] <= down["y"] + 1
    assert title["x"] - page.locator(".rows").bounding_box()["x"] <= 108
    assert up["x"] + up["width"] <= title["x"]


@pytest.mark.parametrize("path", ["/", "/newest/", "/hot/", "/top/?range=all"])
@pytest.mark.parametrize("member", ["demo", "demo-moderator", None])
def test_on_a_phone_the_first_article_starts_within_220_pixels(chromium, site, open_page, path, member):
    if member is None:
        assert open_page(path, **phone()).locator(".row").first.bounding_box()["y"] <= 220
        return
    with window(chromium, site, member, **phone()) as page:
        page.goto(path)
        assert page.locator(".row").first.bounding_box()["y"] <= 220


def ground(page):
    return page.evaluate("getComputedStyle(document.documentElement).backgroundColor")


def test_the_browsers_preference_sets_the_theme_and_the_switch_overrides_it(open_page):
    light, dark = open_page(color_scheme="light"), open_page(color_scheme="dark")
    by_wish = ground(light), ground(dark)
    assert by_wish[0] != by_wish[1]

    light.click("footer button[value=dark]")
    light.wait_for_selector("html[data-theme=dark]", state="attached")
    dark.click("footer button[value=light]")
    dark.wait_for_selector("html[data-theme=light]", state="attached")
    assert (ground(dark), ground(light)) == by_wish
    assert light.locator("footer button[value=dark]").get_attribute("aria-pressed") == "true"

    light.click("footer button[name=theme][value='']")
    light.wait_for_selector("html:not([data-theme])", state="attached")
    assert ground(light) == by_wish[0]


@pytest.mark.parametrize("path", ["/", "/hot/", "/articles/130/", "/articles/1/why/", "/users/demo/", "/login/"])
def test_nothing_moves_while_a_page_renders(open_page, path):
    page = open_page(path, **phone(timezone_id="America/St_Johns"))

    assert page.evaluate(SHIFTS) == []
    page.evaluate(IN_PIECES)
    assert page.evaluate(SHIFTS) == []


def test_a_first_visit_of_the_front_page_takes_20_kilobytes_in_8_requests(chromium, site):
    """As sent; 8 KB of them are scripts."""
    with window(chromium, site, **DESK) as page:
        asked = []
        page.on("requestfinished", lambda request: asked.append(request))  # noqa: PLW0108 - Playwright marks what it calls
        page.goto("/", wait_until="networkidle")
        weights = [(one.resource_type, one.sizes()["responseBodySize"]) for one in asked]

        assert len(weights) <= 8, weights
        assert sum(weight for _, weight in weights) <= 20_000, weights
        assert sum(weight for kind, weight in weights if kind == "script") <= 8_000, weights
        with page.expect_request("**/articles_and_forms.*.css"):  # an article then has its styles at once
            page.mouse.move(9, 9)


def test_a_button_without_words_shows_its_name_below_the_mouse(open_page):
    page = open_page("/", **DESK)
    for selector in (".row .vote", ".row .oppose", ".row summary"):
        button = page.locator(selector).first
        button.hover()
        assert button.get_attribute("title") == button.get_attribute("aria-label"), selector


LINES = """one => {
    const height = parseFloat(getComputedStyle(one).lineHeight);
    return Math.round(one.getBoundingClientRect().height / height);
}"""


@SIZES
@pytest.mark.parametrize(
    "title", ["Words and more words " * 14, "先更新数据库还是先删缓存" * 24], ids=["latin", "han"]
)
def test_a_long_title_is_cut_to_few_lines_in_lists_and_complete_on_its_page(open_page, site_store, options, title):
    number = site_store.articles.post(
        77, "somebody", title.strip(), f"https://example.org/{len(title)}-{options.get('has_touch')}", ()
    ).id
    page = open_page("/newest/", **options)

    assert page.locator(f"#article-{number} h2 a").evaluate(LINES) <= (2 if options is DESK else 3)

    page.goto(f"/articles/{number}/")
    shown = page.locator("h1 a").evaluate("one => [getComputedStyle(one).webkitLineClamp, one.innerText]")
    assert shown == ["none", title.strip()]
