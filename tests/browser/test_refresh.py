"""An open page stays fresh: counts, order, and the notice of new articles."""

from itertools import count

import pytest
from playwright.sync_api import expect

from articles.domain.articles import Choice
from articles.domain.moderation_log import OPERATOR
from tests.browser.windows import hold, posted, row_of, shown_ids, wait_for, window
from tests.waiting import until

pytestmark = pytest.mark.browser

ASKED = "**/pulse/?*"
SOON, LATE = 31_000, 301_000
"""Milliseconds after which a page has asked again: normally, and if nothing changes for long."""

_voters = count(900_000)


@pytest.fixture
def page(chromium, site):
    with window(chromium, site, "demo") as found:
        found.clock.install()
        yield found


def vote(site_store, article, times=1):
    for _ in range(times):
        site_store.votes.cast(article, next(_voters), Choice.VOTE)


def overtake(site_store, article, other):
    """Vote until the article's score is above the other's."""
    while site_store.articles.get(article).score <= site_store.articles.get(other).score:
        vote(site_store, article)


def settle(page):
    """Wait until the page has finished its pending work; its clock advances meanwhile."""
    page.evaluate("fetch('/healthz').then(answer => answer.text())")


def later(page, milliseconds=SOON):
    """Advance the clock, and wait for the response to the request sent then."""
    with page.expect_response(ASKED) as told:
        page.clock.fast_forward(milliseconds)
    told.value.finished()
    settle(page)


def followed(page, milliseconds=SOON):
    """Do as `later`, and wait until the page has applied the response."""
    page.evaluate("document.addEventListener('counts', () => (document.body.dataset.heard = 1), {once: true})")
    later(page, milliseconds)
    page.wait_for_selector("body[data-heard]")
    page.evaluate("delete document.body.dataset.heard")


def points(page, article):
    return int(page.inner_text(f"{row_of(article)} .points").split()[0].replace("−", "-"))


def open_pair(page, site_store, path="/"):
    """Open the page; return it with the first two articles of which the second can overtake the first."""
    first, second = [posted(site_store), posted(site_store)]
    vote(site_store, first, 3)
    page.goto(path)
    shown = shown_ids(page)
    assert shown.index(first) < shown.index(second)
    return first, second


def test_the_vote_of_another_member_appears(page, site_store):
    article = posted(site_store)
    page.goto("/newest/")
    vote(site_store, article)

    later(page)

    expect(page.locator(f"{row_of(article)} .points")).to_contain_text("2")
    vote(site_store, article)
    later(page)
    expect(page.locator(f"{row_of(article)} .points")).to_contain_text("3")


def focus(page, article):
    page.locator(f"{row_of(article)} h2 a[data-article]").focus()


def hover(page, article):
    page.locator(f"{row_of(article)} h2 a[data-article]").hover()


def scroll(page, article):
    page.evaluate("scrollTo(0, document.querySelector('.rows').getBoundingClientRect().top + 100)")


def select(page, article):
    title = page.locator(f"{row_of(article)} h2 a[data-article]")
    title.evaluate("link => getSelection().selectAllChildren(link)")


def leave(page, article):
    page.evaluate("document.activeElement.blur(); getSelection().removeAllRanges(); scrollTo(0, 0)")
    page.mouse.move(0, 0)


@pytest.mark.parametrize("be_there", [focus, hover, scroll, select])
def test_rows_stay_in_place_while_the_reader_uses_the_list_but_counts_update(page, site_store, be_there):
    first, second = open_pair(page, site_store)
    overtake(site_store, second, first)
    before = shown_ids(page)
    be_there(page, first)

    followed(page)

    expect(page.locator(f"{row_of(second)} .points")).to_contain_text(str(site_store.articles.get(second).points))
    assert shown_ids(page) == before
    leave(page, first)
    later(page, LATE)
    until(lambda: (found := shown_ids(page)).index(second) < found.index(first))


@pytest.mark.parametrize(
    ("path", "newest", "groups"),
    [
        ("/", "/newest/", []),
        ("/newest/", "/newest/", []),
        ("/groups/redis/", "/groups/redis/?order=time", ["redis"]),
    ],
)
def test_new_articles_are_announced(page, site_store, path, newest, groups):
    page.goto(path)
    before = shown_ids(page)
    number = posted(site_store, "Fresh", groups)

    later(page)
    news = page.get_by_role("status").get_by_role("link")
    expect(news).to_have_text("1 new article")
    assert shown_ids(page) == before
    other = posted(site_store, "Fresher", groups)
    later(page)
    expect(news).to_have_text("2 new articles")

    news.click()
    page.wait_for_url(f"**{newest}")
    assert shown_ids(page)[:2] == [other, number]


def test_a_removed_article_says_so_and_cannot_be_opened_or_voted_for(page, site_store):
    article = posted(site_store)
    page.goto("/newest/")
    site_store.articles.remove(article, OPERATOR, "spam")

    later(page)

    row = page.locator(row_of(article))
    expect(row.locator(".note")).to_have_text("This article has been removed.")
    expect(row.locator("button.vote")).to_be_hidden()
    assert row.locator("h2 a[data-article]").get_attribute("href") is None


def test_counts_requested_before_a_vote_do_not_undo_it(page, site_store):
    article = posted(site_store)
    page.goto("/newest/")
    held = hold(page, ASKED)
    page.clock.fast_forward(SOON)
    wait_for(page, lambda: held)
    older = held[0].fetch()
    page.click(f"{row_of(article)} button.vote")
    expect(page.locator("#live")).to_contain_text("was counted")
    page.evaluate("document.addEventListener('counts', () => (document.body.dataset.heard = 1))")

    held[0].fulfill(response=older)

    page.wait_for_selector("body[data-heard]")
    assert points(page, article) == 2
    expect(page.locator(f"{row_of(article)} button.vote")).to_have_attribute("aria-pressed", "true")


def questions(page):
    """Return the requests sent so far, and those answered or lost; both lists grow."""
    asked, settled = [], []
    for event, urls in (("request", asked), ("requestfinished", settled), ("requestfailed", settled)):
        page.on(event, lambda request, urls=urls: "/pulse/" in request.url and urls.append(request.url))
    return asked, settled


def show(page, hidden):
    page.evaluate(
        "hidden => { Object.defineProperty(document, 'hidden', {value: hidden, configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange')) }",
        hidden,
    )


def test_a_hidden_page_sends_nothing_and_refreshes_when_shown_again(page, site_store):
    article = posted(site_store)
    page.goto("/newest/")
    asked, _ = questions(page)
    show(page, hidden=True)
    page.clock.fast_forward(3_600_000)
    vote(site_store, article)
    assert asked == []

    with page.expect_response(ASKED):
        show(page, hidden=False)

    expect(page.locator(f"{row_of(article)} .points")).to_contain_text("2")


def goes(page, asked, settled, milliseconds):
    """Return the number of requests sent in that time, once the last one is settled."""
    before = len(asked)
    page.clock.fast_forward(milliseconds)
    settle(page)
    wait_for(page, lambda: len(settled) == len(asked))
    settle(page)
    return len(asked) - before


def glance(page):
    """Hide the page and show it again."""
    show(page, hidden=True)
    show(page, hidden=False)


def test_one_request_is_pending_at_a_time_for_at_most_eight_seconds(page):
    page.add_init_script(
        """AbortSignal.timeout = (wait) => {
            const waiting = new AbortController();
            window.giveUp = () => { waiting.abort(); return wait };
            return waiting.signal;
        }"""
    )
    page.goto("/newest/")
    held = hold(page, ASKED)
    page.clock.fast_forward(SOON)
    wait_for(page, lambda: held)

    page.clock.fast_forward(11_000)
    glance(page)
    page.clock.fast_forward(SOON)
    settle(page)
    assert len(held) == 1

    assert page.evaluate("giveUp()") == 8000
    settle(page)
    page.clock.fast_forward(2 * SOON)
    wait_for(page, lambda: len(held) == 2)


@pytest.mark.parametrize("trouble", ["nothing changes", "no answer", "a refusal"])
def test_the_page_refreshes_less_and_less_often(page, site_store, trouble):
    page.goto("/groups/history/")
    later(page)
    if trouble == "no answer":
        page.route(ASKED, lambda route: route.abort())
    if trouble == "a refusal":
        page.route(ASKED, lambda route: route.fulfill(status=400, json={"error": "no"}))
    asked, settled = questions(page)

    assert goes(page, asked, settled, SOON) == 1
    assert goes(page, asked, settled, SOON) == 0
    assert goes(page, asked, settled, 30_000) == 1
    longest = LATE if trouble == "nothing changes" else 2 * LATE
    assert [goes(page, asked, settled, longest) for _ in range(8)] == [1] * 8
