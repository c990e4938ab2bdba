"""An open page stays fresh: counts, order, news of new articles."""

from itertools import count

import pytest
from playwright.sync_api import expect

from articles.domain import OPERATOR, Choice, Order
from tests.browser.windows import hold, row_of, shown_ids, store_of, wait_for, window
from tests.waiting import until

pytestmark = pytest.mark.browser

ASKED = "**/pulse/?*"
SOON, LATE = 31_000, 301_000
"""Milliseconds after which a page has asked again: normally, and if nothing changes for long."""

_voters = count(900_000)


@pytest.fixture(scope="module")
def store(site):
    return store_of(site)


@pytest.fixture
def page(chromium, site):
    with window(chromium, site, "demo") as found:
        found.clock.install()
        yield found


def vote(store, article, times=1):
    for _ in range(times):
        store.votes.cast(article, next(_voters), Choice.VOTE)


def overtake(store, article, other):
    """Votes until the article's score is above the other's."""
    while store.articles.get(article).score <= store.articles.get(other).score:
        vote(store, article)


def post(store, title="New", groups=()):
    return store.articles.post(77, "somebody", title, f"https://example.org/{next(_voters)}", groups).id


def later(page, milliseconds=SOON):
    """Go on in time, and wait for the answer to the question that is asked then."""
    with page.expect_response(ASKED) as told:
        page.clock.fast_forward(milliseconds)
    told.value.finished()


def points(page, article):
    return int(page.inner_text(f"{row_of(article)} .points").split()[0])


def open_pair(page, store, path="/"):
    """The page, and the first two of its articles of which the second can overtake the first."""
    first, second = [post(store), post(store)]
    vote(store, first, 3)
    page.goto(path)
    shown = shown_ids(page)
    assert shown.index(first) < shown.index(second)
    return first, second


def test_the_vote_of_another_member_shows(page, store):
    article = post(store)
    page.goto("/newest/")
    vote(store, article)

    later(page)

    expect(page.locator(f"{row_of(article)} .points")).to_contain_text("2")
    vote(store, article)
    later(page)
    expect(page.locator(f"{row_of(article)} .points")).to_contain_text("3")


def test_rows_change_places_and_ranks_stay_in_order(page, store):
    first, second = open_pair(page, store)
    overtake(store, second, first)

    later(page)

    until(lambda: (found := shown_ids(page)).index(second) < found.index(first))
    ranks = page.locator("main .rows .rank").all_inner_texts()
    assert [int(rank.strip(".")) for rank in ranks] == list(range(1, len(ranks) + 1))
    assert shown_ids(page) == [article.id for article in store.listings.page(Order.SCORE).articles]


def focus(page, article):
    page.locator(f"{row_of(article)} h2 a").focus()


def hover(page, article):
    page.locator(f"{row_of(article)} h2 a").hover()


def scroll(page, article):
    page.evaluate("scrollTo(0, document.querySelector('.rows').getBoundingClientRect().top + 100)")


def leave(page, article):
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    page.mouse.move(0, 0)


@pytest.mark.parametrize("be_there", [focus, hover, scroll])
def test_nothing_moves_while_the_reader_is_at_the_list_but_counts_follow(page, store, be_there):
    first, second = open_pair(page, store)
    overtake(store, second, first)
    before = shown_ids(page)
    be_there(page, first)

    later(page)

    expect(page.locator(f"{row_of(second)} .points")).to_contain_text(str(store.articles.get(second).points))
    assert shown_ids(page) == before
    leave(page, first)
    later(page, LATE)
    until(lambda: (found := shown_ids(page)).index(second) < found.index(first))


def test_who_wishes_no_motion_sees_none(chromium, site, store):
    for wish, moves in (("reduce", False), ("no-preference", True)):
        with window(chromium, site, "demo", reduced_motion=wish) as page:
            page.add_init_script(
                "window.moved = 0; const animate = Element.prototype.animate;"
                "Element.prototype.animate = function (...all) { moved++; return animate.apply(this, all) }"
            )
            page.clock.install()
            first, second = open_pair(page, store)
            overtake(store, second, first)
            later(page)
            until(lambda: (found := shown_ids(page)).index(second) < found.index(first))  # noqa: B023
            assert (page.evaluate("moved") > 0) is moves


@pytest.mark.parametrize(
    ("path", "newest", "groups"),
    [
        ("/", "/newest/", []),
        ("/newest/", "/newest/", []),
        ("/groups/redis/", "/groups/redis/?order=time", ["redis"]),
    ],
)
def test_new_articles_announce_themselves(page, store, path, newest, groups):
    page.goto(path)
    before = shown_ids(page)
    number = post(store, "Fresh", groups)

    later(page)
    news = page.get_by_role("status").get_by_role("link")
    expect(news).to_have_text("1 new article")
    assert shown_ids(page) == before
    other = post(store, "Fresher", groups)
    later(page)
    expect(news).to_have_text("2 new articles")

    news.click()
    page.wait_for_url(f"**{newest}")
    assert shown_ids(page)[:2] == [other, number]


def test_the_link_to_new_articles_moves_nothing(page, store):
    page.goto("/newest/")
    row = page.locator(".row >> nth=0")
    before = row.bounding_box()
    post(store)

    later(page)

    expect(page.locator(".news a")).to_be_visible()
    assert row.bounding_box() == before


def test_articles_of_other_groups_are_no_news_in_a_group(page, store):
    page.goto("/groups/redis/")
    post(store, groups=["web"])

    later(page)

    assert page.locator(".news a").count() == 0


def test_a_removed_article_says_so_and_can_be_neither_opened_nor_voted_for(page, store):
    article = post(store)
    page.goto("/newest/")
    store.articles.remove(article, OPERATOR, "spam")

    later(page)

    row = page.locator(row_of(article))
    expect(row.locator(".note")).to_have_text("This article was removed by a moderator.")
    expect(row.locator("button.vote")).to_be_hidden()
    assert row.locator("h2 a").get_attribute("href") is None


def test_a_vote_on_its_way_is_not_overwritten_by_older_counts(page, store):
    article = post(store)
    page.goto("/newest/")
    page.clock.fast_forward(SOON - 3000)
    held = hold(page, "**/vote/")
    page.click(f"{row_of(article)} button.vote")
    wait_for(page, lambda: held)

    later(page, 3000)

    assert points(page, article) == 2
    expect(page.locator(f"{row_of(article)} button.vote")).to_have_attribute("aria-pressed", "true")
    held[0].continue_()
    expect(page.locator("#live")).to_contain_text("is counted")


def test_a_vote_that_counted_but_whose_answers_were_lost_shows_in_the_end(page, store):
    article = post(store)
    page.goto("/newest/")
    page.route("**/vote/", lambda route: route.fetch() and route.abort())
    page.click(f"{row_of(article)} button.vote")
    expect(page.locator(f"{row_of(article)} .note")).to_contain_text("may not be counted")
    assert points(page, article) == 1

    later(page)

    assert points(page, article) == store.articles.get(article).points == 2
    expect(page.locator(f"{row_of(article)} button.vote")).to_have_attribute("aria-pressed", "true")


def test_ones_own_choice_in_another_window_follows(page, store, site):
    article = post(store)
    page.goto("/newest/")
    other = page.context.new_page()
    other.goto("/newest/")
    with other.expect_response("**/vote/"):
        other.click(f"{row_of(article)} button.oppose")

    later(page)

    expect(page.locator(f"{row_of(article)} button.oppose")).to_have_attribute("aria-pressed", "true")


def questions(page):
    """What the page has asked so far; grows."""
    asked = []
    page.on("request", lambda request: asked.append(request.url) if "/pulse/" in request.url else None)
    return asked


def show(page, hidden):
    page.evaluate(
        "hidden => { Object.defineProperty(document, 'hidden', {value: hidden, configurable: true});"
        "document.dispatchEvent(new Event('visibilitychange')) }",
        hidden,
    )


def test_a_hidden_page_asks_nothing_and_asks_at_once_when_it_is_shown_again(page, store):
    article = post(store)
    page.goto("/newest/")
    asked = questions(page)
    show(page, hidden=True)
    page.clock.fast_forward(3_600_000)
    vote(store, article)
    assert asked == []

    with page.expect_response(ASKED):
        show(page, hidden=False)

    expect(page.locator(f"{row_of(article)} .points")).to_contain_text("2")


@pytest.mark.parametrize("trouble", ["nothing changes", "no answer", "a refusal"])
def test_the_page_asks_less_and_less_often(page, store, trouble):
    page.goto("/groups/history/")
    later(page)
    if trouble == "no answer":
        page.route(ASKED, lambda route: route.abort())
    if trouble == "a refusal":
        page.route(ASKED, lambda route: route.fulfill(status=400, json={"error": "no"}))
    asked = questions(page)

    def goes(milliseconds):
        """How many questions that time brings, once the last one is settled."""
        before = len(asked)
        page.clock.fast_forward(milliseconds)
        page.evaluate("fetch('/healthz').then(answer => answer.text())")
        page.wait_for_load_state("networkidle")
        return len(asked) - before

    assert goes(SOON) == 1
    assert goes(SOON) == 0
    assert goes(30_000) == 1


def test_an_articles_own_page_follows_too(page, store):
    article = post(store)
    page.goto(f"/articles/{article}/")
    vote(store, article, 4)

    later(page)

    expect(page.locator(f"{row_of(article)} .points")).to_contain_text("5")
    expect(page.locator("[data-count=votes] dd")).to_have_text("5")


def test_a_page_that_comes_out_of_the_history_asks_at_once(chromium, site, store):
    article = post(store)
    with window(chromium, site, "demo") as page:
        page.goto("/newest/")
        with page.expect_response("**/vote/"):
            page.click(f"{row_of(article)} button.vote")
        expect(page.locator("#live")).to_contain_text("is counted")
        page.goto("/groups/")

        page.go_back()

        expect(page.locator(f"{row_of(article)} button.vote")).to_have_attribute("aria-pressed", "true")
        expect(page.locator(f"{row_of(article)} .points")).to_contain_text("2")
