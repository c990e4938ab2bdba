"""Feeds: a reader who polls every two days misses nothing."""

from contextlib import suppress
from dataclasses import replace
from functools import partial

import fakeredis
import pytest
import redis
from hypothesis import example, given, settings, strategies as st

from articles.domain.articles import Choice
from articles.domain.errors import GroupNotFound, VotingClosed
from articles.domain.lists import Order, Period
from articles.repository import FeedFilter
from articles.repository.lists import feeds as feeding
from articles.repository.store import schema
from articles.text.searching import Hiding
from tests.cast import ALICE, BOB, MALLORY, MODERATOR
from tests.clock import Clock
from tests.factories import imported, view
from tests.rules import connect, default_rules

DAY = 86400
TWO_DAYS = 2 * DAY


@pytest.fixture
def few(monkeypatch):
    """Lower the minimum number of articles, so that a feed has only the required ones."""
    monkeypatch.setattr(feeding, "LEAST_ARTICLES", 2)


def post(repository, clock, count, groups=(), every=3600.0, poster=ALICE):
    ids = []
    for _ in range(count):
        number = repository.changes.get_last_id()
        link = f"https://e.org/{number}"
        ids.append(repository.articles.post(poster, f"u{poster}", f"T {number}", link, groups).id)
        clock.advance(every)
    return ids


def ids_of(articles):
    return [article.id for article in articles]


def feeds_of(repository, slug="python"):
    """Return every feed of newest articles, by name, as a function of the feed filter."""
    feeds = repository.feeds
    return {
        "newest": partial(feeds.list_in, Order.TIME),
        "front": partial(feeds.list_in, Order.SCORE),
        "group": lambda wish: feeds.list_groups([slug], wish)[1],
        "poster": lambda wish: feeds.list_posted(ALICE, wish),
    }


def test_feeds_of_an_empty_site_are_empty(repository):
    repository.groups.create("python", "Python")

    for feed in feeds_of(repository).values():
        assert feed(FeedFilter()) == []
        assert feed(FeedFilter(min_points=1, hidden=Hiding(("go",)))) == []
    assert repository.feeds.list_in(Order.HOT, FeedFilter()) == []
    assert repository.feeds.list_top(Period.DAY, FeedFilter()) == []


@pytest.mark.parametrize("name", ["newest", "front", "group", "poster"])
def test_a_feed_has_all_articles_of_two_days_and_the_first_older_ones(repository, clock, few, name):
    ids = post(repository, clock, 80, ["python"])
    clock.now = clock.now - 3600  # the time of the last post

    found = ids_of(feeds_of(repository)[name](FeedFilter()))

    assert found == ids[:-51:-1]  # one per hour: 0 to 49 hours old


@pytest.mark.parametrize("name", ["newest", "front", "group", "poster"])
def test_a_feed_of_a_quiet_list_has_its_first_thirty_articles_of_any_age(repository, clock, name):
    ids = post(repository, clock, 40, ["python"])
    clock.advance(100 * DAY)

    assert ids_of(feeds_of(repository)[name](FeedFilter())) == ids[:-31:-1]


@pytest.mark.parametrize("name", ["newest", "front", "group", "poster"])
def test_a_feed_never_exceeds_its_limit(repository, clock, name, monkeypatch):
    monkeypatch.setattr(feeding, "MOST_ARTICLES", 40)
    ids = post(repository, clock, 60, ["python"], every=1)

    assert ids_of(feeds_of(repository)[name](FeedFilter())) == ids[:-41:-1]
    assert len(feeds_of(repository)[name](FeedFilter(min_points=0))) == 40


def test_late_points_are_not_missed_after_the_voting_window_is_shortened(repository, clock, few):
    store = repository.store
    longer, shorter = (
        connect(
            store.client,
            shards=store.shards.count,
            rules=replace(repository.rules, voting_window=days * DAY),
            clock=clock,
        )
        for days in (30, 1)
    )
    ids = post(longer, clock, 10, ["python"], every=60)
    clock.advance(25 * DAY)
    for article_id in (ids[4], ids[8], ids[9]):
        shorter.votes.cast(article_id, BOB, Choice.VOTE)
    clock.advance(TWO_DAYS)

    for read in feeds_of(shorter).values():
        assert ids_of(read(FeedFilter(min_points=2)))[:3] == [ids[9], ids[8], ids[4]]


@pytest.mark.parametrize("name", ["newest", "front", "group", "poster"])
def test_articles_in_hidden_groups_are_replaced_by_others(repository, clock, name):
    shown = post(repository, clock, 40, ["python"], every=60)
    post(repository, clock, 40, ["python", "go"], every=60)
    clock.advance(20 * DAY)

    found = ids_of(feeds_of(repository)[name](FeedFilter(hidden=Hiding(("go", "rust")))))

    assert len(found) >= 30
    assert found == shown[::-1][: len(found)]


def test_reading_stops_at_a_limit_when_every_article_is_hidden(repository, clock, monkeypatch):
    monkeypatch.setattr(feeding, "MOST_READ", 50)
    post(repository, clock, 10, every=1)
    post(repository, clock, 100, ["go"], every=1)

    assert repository.feeds.list_in(Order.TIME, FeedFilter(hidden=Hiding(("go",)))) == []


def test_removed_articles_are_in_no_feed(repository, clock):
    first, second = post(repository, clock, 2, ["python"])
    repository.articles.remove(second, MODERATOR, "spam")

    for feed in feeds_of(repository).values():
        assert ids_of(feed(FeedFilter())) == [first]
    assert ids_of(repository.feeds.list_top(Period.ALL, FeedFilter())) == [first]


def test_the_front_page_feed_has_the_highest_and_all_new_articles(repository, clock, few, monkeypatch):
    monkeypatch.setattr(feeding, "MOST_ARTICLES", 10)
    now = clock()
    old = [imported(n, now - 3 * DAY + n, votes=20, opposes=0) for n in range(28)]
    highest = [imported(n, now - 4 * DAY + n, votes=900, opposes=0) for n in (30, 31)]
    new = [imported(n, now - 3600 + n, votes=0, opposes=900) for n in range(40, 45)]
    ids = repository.imports.add([*old, *highest, *new])

    found = ids_of(repository.feeds.list_in(Order.SCORE, FeedFilter()))

    assert found == [ids[29], ids[28], *ids[:-6:-1]]


def test_the_hot_feed_covers_articles_that_were_read(repository, clock, few):
    ids = post(repository, clock, 80)
    for article_id in (ids[2], ids[3], ids[-1], ids[-3], ids[-5]):
        view(repository, article_id, 1)
    view(repository, ids[2], *range(2, 60))

    found = ids_of(repository.feeds.list_in(Order.HOT, FeedFilter()))

    hot = ids_of(repository.lists.get_page(Order.HOT).articles)
    assert len(hot) == 5
    assert found == [number for at, number in enumerate(hot) if at < 2 or number in ids[-49:]]


def test_the_feed_of_a_period_has_only_its_first_thirty_articles_by_points(repository, clock):
    ids = post(repository, clock, 40, ["go"], every=60)
    for voter in (BOB, MALLORY):
        repository.votes.cast(ids[3], voter, Choice.VOTE)
    clock.advance(2 * DAY)
    (new,) = post(repository, clock, 1)
    top, rest = repository.feeds.list_top, ids[:3] + ids[4:]

    assert ids_of(top(Period.DAY, FeedFilter())) == [new]
    assert ids_of(top(Period.WEEK, FeedFilter())) == [ids[3], new, *rest[::-1]][:30]
    assert ids_of(top(Period.ALL, FeedFilter())) == ids_of(
        repository.lists.get_page(Order.POINTS, size=30).articles
    )
    assert ids_of(top(Period.WEEK, FeedFilter(min_points=3))) == [ids[3]]
    assert ids_of(top(Period.MONTH, FeedFilter(hidden=Hiding(("go",))))) == [new]


def test_several_groups_form_one_feed_without_duplicates(repository, clock):
    both = post(repository, clock, 2, ["python", "go"])
    python = post(repository, clock, 2, ["python"])
    go = post(repository, clock, 2, ["go"])
    post(repository, clock, 2, ["rust"])

    titles, found = repository.feeds.list_groups(["python", "go"], FeedFilter())

    assert ids_of(found) == [*go[::-1], *python[::-1], *both[::-1]]
    assert titles == {"python": "python", "go": "go"}


def test_an_unknown_group_is_named_and_a_merged_one_redirects(repository, clock):
    post(repository, clock, 1, ["python"])
    post(repository, clock, 1, ["snake"])
    repository.groups.merge("snake", "python", MODERATOR)

    with pytest.raises(GroupNotFound) as nowhere:
        repository.feeds.list_groups(["python", "nope"], FeedFilter())
    with pytest.raises(GroupNotFound) as gone:
        repository.feeds.list_groups(["snake"], FeedFilter())

    assert (nowhere.value.slug, nowhere.value.moved_to) == ("nope", None)
    assert gone.value.moved_to == "python"


EVENTS = st.lists(
    st.tuples(
        st.integers(0, 20 * 3600), st.sampled_from(["post", "post", "vote", "vote", "vote"]), st.integers(0, 99)
    ),
    min_size=5,
    max_size=40,
)


class _Fake(fakeredis.FakeRedis):
    def send_together(self, commands):
        return [self._reply(words) for words in commands]

    def _reply(self, words):
        try:
            return self.execute_command(*words)
        except redis.ResponseError as error:
            return error


@pytest.mark.deep
@settings(max_examples=30)
@example(events=[(0, "post", 0), (0, "post", 0), (TWO_DAYS, "post", 0)], min_points=None, poll=TWO_DAYS)
@example(
    events=[(0, "post", 0), *[(DAY, "post", 0)] * 6, (0, "vote", 0), (0, "vote", 6)], min_points=2, poll=TWO_DAYS
)
@given(events=EVENTS, min_points=st.sampled_from([None, 0, 1, 2, 3]), poll=st.sampled_from([TWO_DAYS, 36 * 3600]))
def test_a_reader_who_polls_every_two_days_misses_no_qualifying_article(events, min_points, poll):
    clock, wish = Clock(), FeedFilter(min_points)
    repository = connect(_Fake(decode_responses=True), rules=default_rules(), clock=clock)
    schema.stamp(repository.store)
    repository.groups.create("python", "Python")
    points, seen = dict[int, int](), {name: set[int]() for name in feeds_of(repository)}

    def look():
        due = {number for number, count in points.items() if count >= (min_points or 0)}
        for name, feed in feeds_of(repository).items():
            seen[name] |= set(ids_of(feed(wish)))
            assert due <= seen[name], name

    at_least, feeding.LEAST_ARTICLES = feeding.LEAST_ARTICLES, 1
    next_poll = clock.now + poll
    try:
        for gap, kind, pick in events:
            end = clock.now + gap
            while next_poll <= end:
                clock.now = next_poll
                look()
                next_poll += poll
            clock.now = end
            happen(repository, points, kind, pick)
        clock.now = next_poll
        look()
    finally:
        feeding.LEAST_ARTICLES = at_least


def happen(repository, points, kind, pick):
    """Post an article or vote on one; update `points`."""
    if kind == "post" or not points:
        number = len(points)
        link = f"https://e.org/{number}"
        points[repository.articles.post(ALICE, "alice", f"T {number}", link, ["python"]).id] = 1
        return
    article = sorted(points)[pick % len(points)]
    with suppress(VotingClosed):
        points[article] = repository.votes.cast(article, 100 + pick, Choice.VOTE).points
