"""Members' visits to articles: when the one before ended, how many are kept, and for how long."""

import pytest

from articles.domain.lists import Order
from articles.domain.readership import Suspicion
from articles.repository.readership.pageviews import VISIT_PAUSE_SECONDS
from articles.text.searching import Hiding
from tests.cast import ALICE, BOB, CAROL
from tests.clock import DAY
from tests.factories import comment_on, post, visit
from tests.store_state import problems


@pytest.fixture
def article(repository) -> int:
    return post(repository, 1)


def opened(repository, article_id, member=BOB, suspicion=None):
    """Open the article's page, and return when the visit before ended."""
    return repository.pageviews.record(article_id, visit(member, suspicion=suspicion), member).visited_at


def test_a_visit_begins_where_the_one_before_ended(repository, article, clock):
    assert opened(repository, article) is None
    clock.advance(VISIT_PAUSE_SECONDS - 1)
    assert opened(repository, article) is None, "still the first visit"
    first_ended = clock()
    for _ in range(3):
        clock.advance(VISIT_PAUSE_SECONDS - 1 if _ else VISIT_PAUSE_SECONDS)
        assert opened(repository, article) == first_ended
    second_ended = clock()
    clock.advance(DAY)
    assert opened(repository, article) == second_ended
    assert opened(repository, article, ALICE) is None
    assert problems(repository) == []


def test_only_opening_the_page_is_a_visit(repository, article, clock):
    repository.pageviews.record(article, visit(BOB))
    opened(repository, article, suspicion=Suspicion.PREFETCH)
    assert repository.members.list_visits(BOB) == []

    opened(repository, article)

    assert repository.members.list_visits(BOB) == [(article, clock())]


@pytest.mark.needs("few shards")
def test_the_newest_visits_are_kept_for_a_month(repository, clock):
    count = repository.store.shards.count
    earlier = range(10**6, 10**6 + 998 * count)
    for number, article_id in enumerate(earlier):
        visits = repository.store.shards.of(article_id).visits(BOB)
        repository.store.client.hset(visits, str(article_id), f"- {clock() - 10**6 + number:.3f}")
    ids = [post(repository, number) for number in range(10 * count)]
    for article_id in ids:
        clock.advance(1)
        opened(repository, article_id)

    kept = [article_id for article_id, _ in repository.members.list_visits(BOB)]

    assert kept == [*earlier, *ids][::-1][: len(kept)]
    assert 500 <= len(kept) / count < 520
    for keys in repository.store.shards.all:
        assert 29 * DAY < repository.store.client.ttl(keys.visits(BOB)) <= 30 * DAY


def read(repository, article_id, member=BOB):
    """Return when the member read the article, and how many comments are new, as its list and its page show it."""
    (listed,) = repository.lists.get_page(Order.TIME, reader=member).articles
    one = repository.articles.get(article_id, member)
    assert (listed.read_at, listed.new_comments) == (one.read_at, one.new_comments)
    return one.read_at, one.new_comments


def test_an_article_that_a_member_opened_is_read_and_counts_the_comments_since(repository, article, clock):
    assert read(repository, article) == (None, 0)
    before = comment_on(repository, article, "Before", ALICE)
    opened(repository, article)
    assert read(repository, article) == (clock(), 0)
    visited = clock()
    for number, author in enumerate((ALICE, CAROL, ALICE)):
        clock.advance(60)
        last = comment_on(repository, article, f"After {number}", author)
    assert read(repository, article) == (visited, 3)
    assert read(repository, article, ALICE) == (None, 0)
    repository.comments.delete(last, ALICE)
    assert read(repository, article) == (visited, 2)
    repository.comments.delete(before, ALICE)
    repository.comments.delete(last - 1, CAROL)
    assert read(repository, article) == (visited, 1), "as one was posted, whatever was deleted"
    opened(repository, article)
    assert read(repository, article) == (clock(), 0)


def test_an_article_whose_link_a_member_opened_is_read_and_its_comments_are_still_new(repository, article, clock):
    repository.pageviews.record(article, visit(BOB), BOB, by_link=True)
    comment_on(repository, article, "A comment", ALICE)
    assert read(repository, article) == (clock(), 0), "the member has never seen its comments"
    opened(repository, article)
    seen = clock()
    clock.advance(DAY)
    comment_on(repository, article, "Another", ALICE)
    clock.advance(DAY)
    repository.pageviews.record(article, visit(BOB), BOB, by_link=True)

    assert read(repository, article) == (clock(), 1)
    assert repository.members.list_visits(BOB) == [(article, clock())]
    assert opened(repository, article) == seen
    assert problems(repository) == []


def test_lists_leave_out_what_a_member_has_read_and_stay_full(repository, clock):
    ids = []
    for number in range(60):
        clock.advance(1)
        ids.append(post(repository, number, ("python",)))
    read_ids = set(ids[::3])
    for article_id in read_ids:
        opened(repository, article_id)
    hidden = Hiding(read_by=BOB)
    unread = [article_id for article_id in reversed(ids) if article_id not in read_ids]

    for more in ({}, {"slug": "python"}):
        first = repository.lists.get_page(Order.TIME, size=25, reader=BOB, hidden=hidden, **more)
        assert ([one.id for one in first.articles], first.goes_on) == (unread[:25], True)
        assert 11 <= first.hidden <= 13
        opened(repository, unread[3])  # before the member asks for more
        next_page = repository.lists.get_page(Order.TIME, reader=BOB, hidden=hidden, shown=first.ids, **more)
        assert [one.id for one in next_page.articles] == unread[25:]
        repository.members.forget_visits(BOB)
        for article_id in read_ids:
            opened(repository, article_id)
    followed = repository.following.get_page(["python"], size=25, reader=BOB, hidden=hidden)
    assert read_ids.isdisjoint(followed.ids)
    assert len(followed.ids) == 25
    assert len(repository.lists.get_page(Order.TIME, reader=ALICE, size=60).articles) == 60


def test_visits_that_are_forgotten_count_no_comments(repository, article, clock):
    visits = repository.store.shards.of(article).visits(BOB)
    comment_on(repository, article, "A comment", ALICE)
    for noted, marks in (("- 5", (5, 0)), ("- 0 5", (5, 1))):
        repository.store.client.hset(visits, str(article), noted)
        assert read(repository, article) == marks, noted
    repository.store.client.hset(visits, str(article), "- 5")
    repository.pageviews.record(article, visit(BOB), BOB, by_link=True)
    assert read(repository, article) == (clock(), 0)
    repository.members.forget_visits(BOB)
    assert read(repository, article) == (None, 0)


def test_the_visits_of_a_deleted_member_are_forgotten(repository, article):
    opened(repository, article)

    repository.account_deletion.advance(BOB, "bob", "", lambda: True)

    assert repository.members.list_visits(BOB) == []
