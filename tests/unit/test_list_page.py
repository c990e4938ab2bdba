"""The contents of a list page, without a store or HTML."""

import pytest
from django.utils import translation

from articles.domain.lists import ArticlePage, Group, Order, Period
from articles.views.lists.headings import Empty, list_heading, page_title, search_heading
from articles.views.lists.list_page import GroupTools, ListFeed, ListPage, Reader
from articles.web.paging import Pager, numbered_pager

PYTHON, REDIS = Group("python", "Python", 3), Group("机器学习", "Machine <learning>", 2)

ONE = {"group": PYTHON}
SEVERAL = {"groups": (PYTHON, REDIS)}


@pytest.fixture(autouse=True)
def english():
    with translation.override("en"):
        yield


def page(order=Order.SCORE, number=1, *, total=60, **facts):
    return ArticlePage((), number, 25, total, order, **facts)


def shown(found, reader=None, **choices):
    return ListPage(found, reader or Reader(may_post=True), **choices)


def empty(found, reader=None, **choices):
    return shown(found, reader, is_empty=True, **choices).empty


def labels(tabs):
    return [tab.label for tab in tabs.links]


def current(tabs):
    return [tab.label for tab in tabs.links if tab.is_current]


@pytest.mark.parametrize(
    ("order", "facts", "period", "english", "chinese"),
    [
        (Order.SCORE, {}, Period.ALL, "Front page", "首页"),
        (Order.TIME, {}, Period.ALL, "Newest", "最新"),
        (Order.HOT, {}, Period.ALL, "Hot", "热门"),
        (Order.ACTIVE, {}, Period.ALL, "Discussions", "最近讨论"),
        (Order.POINTS, {}, Period.DAY, "Top of the day", "日榜"),
        (Order.POINTS, {}, Period.WEEK, "Top of the week", "周榜"),
        (Order.POINTS, {}, Period.MONTH, "Top of the month", "月榜"),
        (Order.POINTS, {}, Period.ALL, "Top of all time", "总榜"),
        (Order.HOT, ONE, Period.ALL, "Python", "Python"),
        (Order.POINTS, SEVERAL, Period.ALL, "Python, Machine <learning>", "Python、Machine <learning>"),
    ],
)
def test_each_list_has_a_heading_in_both_languages(order, facts, period, english, chinese):
    assert shown(page(order, **facts), period=period).head.heading == english
    with translation.override("zh-hans"):
        assert shown(page(order, **facts), period=period).head.heading == chinese


def test_the_title_is_the_heading_with_the_page_number_from_page_two():
    assert shown(page()).title == "Front page"
    assert shown(page(number=2)).title == "Front page · Page 2"
    assert page_title("Hot", 1200) == "Hot · Page 1,200"
    assert search_heading(" redis ") == "Search for “redis”"
    assert list_heading(Order.TIME, groups=["Python"]) == "Python"


def test_lists_have_tabs_except_for_those_of_the_site_by_time():
    heads = {order: shown(page(order)).head for order in Order}

    assert [order for order, head in heads.items() if head.tabs is None] == [Order.TIME, Order.ACTIVE]
    assert all(shown(page(order, **facts)).head.tabs for facts in (ONE, SEVERAL) for order in Order)


@pytest.mark.parametrize("facts", [ONE, SEVERAL])
def test_lists_of_groups_have_tabs_for_each_order(facts):
    tabs = shown(page(Order.HOT, **facts)).head.tabs

    orders = ["score", "time", "hot", "points", "active"]
    assert [tab.address for tab in tabs.links] == [f"?order={order}" for order in orders]
    assert (tabs.name, labels(tabs)) == ("Order", ["By score", "Newest", "Hot", "Top", "Discussions"])
    assert current(tabs) == ["Hot"]


def test_the_hot_list_has_tabs_for_its_periods():
    tabs = shown(page(Order.HOT), period=Period.WEEK).head.tabs

    assert [tab.address for tab in tabs.links] == ["", "?range=24h", "?range=72h", "?range=7d", "?range=all"]
    assert (labels(tabs)[0], current(tabs)) == ("Posted within:", ["7 days"])


def test_the_front_page_and_the_lists_of_the_most_points_share_their_tabs():
    front, top = shown(page(), period=Period.ALL).head.tabs, shown(page(Order.POINTS), period=Period.ALL).head.tabs

    assert labels(front) == labels(top) == ["By score", "Top:", "Day", "Week", "Month", "All time"]
    tops = [f"/top/?range={period}" for period in ("day", "week", "month", "all")]
    assert [tab.address for tab in top.links] == ["/", "", *tops]
    assert (current(front), current(top)) == (["By score"], ["All time"])


@pytest.mark.parametrize(
    ("order", "facts", "total", "count"),
    [
        (Order.SCORE, ONE, 1, "1 article"), (Order.TIME, ONE, 1703, "1,703 articles"),
        (Order.HOT, ONE, 2, "2 articles on the hot list"), (Order.ACTIVE, ONE, 2, "2 discussed articles"),
        (Order.SCORE, SEVERAL, 2, ""), (Order.HOT, SEVERAL, 2, ""), (Order.SCORE, {}, 2, ""),
    ],
)  # fmt: skip
def test_only_the_list_of_one_group_shows_a_count(order, facts, total, count):
    assert shown(page(order, total=total, **facts)).head.count == count


def test_the_scoring_time_is_above_hot_lists_of_groups_and_below_the_others():
    site, group = (shown(page(Order.HOT, refreshed_at=5.0, **facts)) for facts in ({}, ONE))

    assert (site.head.updated_at, site.updated_at) == (None, 5.0)
    assert (group.head.updated_at, group.updated_at) == (5.0, None)
    assert shown(page(Order.HOT, refreshed_at=5.0), is_empty=True).updated_at is None


def test_permitted_readers_can_hide_and_manage_a_group():
    assert shown(page(**ONE)).head.group == GroupTools("python", is_hidden=False)
    hiding = Reader(may_post=True, hidden_groups=("python",), may_manage_groups=True)
    assert shown(page(**ONE), hiding).head.group == GroupTools("python", True, "/moderation/groups/python/")
    assert shown(page(**SEVERAL), hiding).head.group is None
    assert shown(page(), hiding).head.group is None


@pytest.mark.parametrize(
    ("order", "facts", "choices", "feed"),
    [
        (Order.SCORE, {}, {}, ListFeed("feed", "front")),
        (Order.TIME, {}, {}, ListFeed("feed", "newest")),
        (Order.HOT, {}, {}, ListFeed("feed", "hot")),
        (Order.ACTIVE, {}, {}, ListFeed("feed", "active")),
        (Order.HOT, {}, {"period": Period.DAY}, ListFeed("feed", "hot", (), "Subscribe to the whole hot list:")),
        (Order.POINTS, {}, {"period": Period.WEEK}, ListFeed("top_feed", "week")),
        (Order.TIME, ONE, {}, ListFeed("group_feed", "python", ("python",))),
        (
            Order.SCORE,
            SEVERAL,
            {},
            ListFeed(
                "group_feed",
                "python+机器学习",
                ("python", "机器学习"),
                "Subscribe to the newest articles in Python, Machine <learning>:",
            ),
        ),
    ],
)
def test_each_list_has_a_feed_that_describes_its_differences(order, facts, choices, feed):
    assert shown(page(order, **facts), **choices).feed == feed


@pytest.mark.parametrize(
    ("order", "number", "facts", "query", "newest"),
    [
        (Order.SCORE, 1, {}, "order=score", "/newest/"),
        (Order.TIME, 1, {}, "order=time", "/newest/"),
        (Order.SCORE, 2, {}, "order=score", ""),
        (Order.HOT, 1, {}, "order=hot", ""),
        (Order.POINTS, 1, {}, "order=points", ""),
        (Order.TIME, 1, ONE, "order=time&groups=python", "/groups/python/?order=time"),
        (
            Order.SCORE,
            1,
            SEVERAL,
            "order=score&groups=python%2C%E6%9C%BA%E5%99%A8%E5%AD%A6%E4%B9%A0",
            "/groups/python+%E6%9C%BA%E5%99%A8%E5%AD%A6%E4%B9%A0/?order=time",
        ),
        (Order.HOT, 3, ONE, "order=hot&groups=python", ""),
    ],
)
def test_new_articles_are_announced_only_on_first_pages_by_score_and_time(order, number, facts, query, newest):
    refresh = shown(page(order, number, **facts)).refresh

    assert (refresh.query, refresh.newest) == (query, newest)


@pytest.mark.parametrize(
    ("order", "facts", "choices", "address", "button"),
    [
        (Order.SCORE, {}, {}, "/post/", "Post an article"),
        (Order.TIME, {}, {}, "/post/", "Post an article"),
        (Order.POINTS, {}, {"period": Period.ALL}, "/post/", "Post an article"),
        (Order.POINTS, {}, {"period": Period.DAY}, "?range=week", "Show the top of the week"),
        (Order.POINTS, {}, {"period": Period.WEEK}, "?range=month", "Show the top of the month"),
        (Order.POINTS, {}, {"period": Period.MONTH}, "?range=all", "Show the top of all time"),
        (Order.HOT, {}, {"period": Period.DAY}, "?range=72h", "Show the last 3 days"),
        (Order.HOT, {}, {"period": Period.THREE_DAYS}, "?range=7d", "Show the last 7 days"),
        (Order.HOT, {}, {"period": Period.WEEK}, "?range=all", "Show the whole hot list"),
        (Order.HOT, {}, {"period": Period.ALL}, "/newest/", "Show the newest articles"),
        (Order.HOT, ONE, {}, "?order=score", "Show the group by score"),
        (Order.HOT, SEVERAL, {}, "?order=score", "Show the groups by score"),
        (Order.SCORE, ONE, {}, "/post/", "Post an article"),
        (Order.POINTS, SEVERAL, {}, "/post/", "Post an article"),
    ],
)
def test_every_empty_list_suggests_a_next_step(order, facts, choices, address, button):
    one = empty(page(order, total=0, **facts), Reader(may_post=True), **choices)

    assert (one.address, one.button) == (address, button)
    assert one.sentence
    with translation.override("zh-hans"):
        chinese = empty(page(order, total=0, **facts), Reader(may_post=True), **choices)
    assert chinese.address == address
    assert one.sentence != chinese.sentence
    assert one.button != chinese.button


def test_an_empty_page_after_the_first_says_that_the_list_has_ended():
    for order in Order:
        for facts in ({}, ONE, SEVERAL):
            assert empty(page(order, 2, **facts)) == Empty(
                "You have reached the end. Nothing new has been posted since."
            )


def test_a_list_that_is_empty_because_of_hidden_groups_says_so():
    hiding = Reader(hides=True)

    for facts in ({}, ONE):
        assert empty(page(total=0, hidden=3, **facts), hiding) == Empty("You are hiding every article here.")
    assert empty(page(total=0), hiding).heading == "Nothing has been posted yet"
    own = Reader(hidden_groups=("python",))
    assert empty(page(total=0, hidden=3, **ONE), own).sentence == "This group has no articles yet."


def test_a_single_page_has_no_pager():
    assert shown(page()).pager is None
    assert numbered_pager(1, has_next=False) is None


def test_the_pager_shows_the_number_of_pages_if_known():
    hiding = Reader(hides=True)
    addresses = {"previous": "?page=1", "next": "?page=3"}

    assert shown(page(number=2), **addresses).pager == Pager("Page 2 of 3", "?page=1", "?page=3")
    assert shown(page(number=2), hiding, **addresses).pager.label == "Page 2 of up to 3"
    assert shown(page(number=2, **SEVERAL), **addresses).pager.label == "Page 2 of up to 3"
    assert shown(page(number=2), hiding, previous="?page=1").pager == Pager("Page 2 of 2", "?page=1", "")
    own = Reader(hidden_groups=("python",))
    assert shown(page(number=2, **ONE), own, **addresses).pager.label == "Page 2 of 3"


def test_a_numbered_pager_keeps_the_rest_of_the_query():
    assert numbered_pager(1, has_next=True) == Pager("Page 1", "", "?page=2")
    assert numbered_pager(2, has_next=False, query="q=a&order=time") == Pager(
        "Page 2", "?page=1&q=a&order=time", ""
    )
