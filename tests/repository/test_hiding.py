"""Lists of several groups, and lists that exclude hidden groups."""

import pytest

from articles.domain.articles import Choice
from articles.domain.errors import GroupNotFound
from articles.domain.lists import TOP_PERIODS, Order
from articles.repository.lists import gathering
from articles.text.searching import Hiding
from tests.cast import MODERATOR
from tests.factories import discuss, post, view
from tests.repository.snapshots import filled_once
from tests.store_state import problems

GROUPS = ("python", "redis", "java")


@filled_once
def fill(repository, clock, count=60):
    """Post articles in zero to three groups; some have votes, all have views and a comment."""
    for slug in GROUPS:
        repository.groups.create(slug, slug.title())
    for number in range(count):
        inside = tuple(slug for at, slug in enumerate(GROUPS) if number % (at + 2) == 0)
        article_id = post(repository, number, inside)
        clock.advance(7)
        for user in range(100, 100 + number * 13 % 5):
            repository.votes.cast(article_id, user, Choice.VOTE)
        view(repository, article_id, *range(1 + number % 3))
        discuss(repository, [article_id])
    repository.hot.rescore()


def ids_of(page):
    return [article.id for article in page.articles]


def whole(repository, order, **asked):
    """Return the ids of a whole list, read by page number."""
    page = repository.lists.get_page(order, **asked)
    ids, number = ids_of(page), 1
    while page.has_next:
        number += 1
        page = repository.lists.get_page(order, number, **asked)
        assert page.articles
        ids += ids_of(page)
    return ids


def picked(repository, order, wanted):
    """Return the site-wide list, filtered by the articles' groups."""
    everything = repository.articles.get_many(whole(repository, order))
    return [article.id for article in everything if wanted(set(article.groups))]


@pytest.mark.parametrize("order", Order)
def test_several_groups_list_each_of_their_articles_once_in_the_chosen_order(repository, clock, order):
    fill(repository, clock)

    found = whole(repository, order, slugs=("redis", "python"))

    assert found == picked(repository, order, lambda groups: groups & {"python", "redis"})
    page = repository.lists.get_page(order, slugs=("redis", "python"))
    assert [(group.slug, group.title) for group in page.groups] == [("python", "Python"), ("redis", "Redis")]
    assert (page.group, len(page.articles)) == (None, 25)


def one_by_one(repository, monkeypatch, meanwhile):
    """Send pipelined scripts one by one, with an action between each two."""
    run = repository.store.run_many

    def interleaved(calls, **how):
        replies = []
        for call in calls:
            replies += run([call], **how)
            meanwhile()
        return replies

    monkeypatch.setattr(repository.store, "run_many", interleaved)


@pytest.mark.deep
@pytest.mark.parametrize("order", [Order.SCORE, Order.POINTS, Order.HOT])
@pytest.mark.parametrize("choice", [Choice.VOTE, Choice.OPPOSE])
def test_an_article_that_moves_while_groups_are_read_is_listed_once(repository, clock, monkeypatch, order, choice):
    users = iter(range(200, 300))
    fill(repository, clock, 60)
    first = picked(repository, order, lambda groups: {"python", "redis", "java"} <= groups)[0]

    def move():
        monkeypatch.undo()
        repository.votes.cast(first, user := next(users), choice)
        view(repository, first, user)
        one_by_one(repository, monkeypatch, move)

    one_by_one(repository, monkeypatch, move)
    page = repository.lists.get_page(order, slugs=GROUPS)
    monkeypatch.undo()

    assert len(page.articles) == len(set(ids_of(page))) == 25
    assert next(users) > 202  # it moved more than once
    assert problems(repository) == []


def test_unknown_and_merged_groups_among_several_are_reported(repository, clock):
    fill(repository, clock, 3)
    repository.groups.merge("java", "redis", MODERATOR)

    with pytest.raises(GroupNotFound) as unknown:
        repository.lists.get_page(Order.SCORE, slugs=("nope", "python"))
    with pytest.raises(GroupNotFound) as merged:
        repository.lists.get_page(Order.SCORE, slugs=("java", "python"))

    assert (unknown.value.slug, unknown.value.moved_to) == ("nope", None)
    assert (merged.value.slug, merged.value.moved_to) == ("java", "redis")


@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("hidden", [("python",), ("redis", "java"), ("nope", "x:y", "{s1}"), GROUPS])
def test_hidden_groups_are_excluded_and_pages_stay_full(repository, clock, order, hidden):
    fill(repository, clock)

    first = repository.lists.get_page(order, hidden=Hiding(tuple(hidden)))
    found = whole(repository, order, hidden=Hiding(tuple(hidden)))

    assert found == picked(repository, order, lambda groups: not groups & set(hidden))
    assert len(first.articles) == min(25, len(found))
    assert first.has_next == (len(found) > 25)


@pytest.mark.parametrize("period", TOP_PERIODS.values())
def test_periods_exclude_hidden_groups(repository, clock, period):
    fill(repository, clock)

    found = whole(repository, Order.POINTS, period=period, hidden=Hiding(("python",)))

    assert found == picked(repository, Order.POINTS, lambda groups: "python" not in groups)


@pytest.mark.parametrize("slugs", [("python",), ("python", "redis")])
def test_a_hidden_groups_own_page_excludes_articles_also_in_another_hidden_group(repository, clock, slugs):
    fill(repository, clock)

    found = whole(repository, Order.TIME, slugs=slugs, hidden=Hiding(("python", "java")))

    wanted = picked(repository, Order.TIME, lambda groups: groups & set(slugs) and "java" not in groups)
    assert found == wanted


@pytest.mark.needs("few shards")
def test_a_page_gives_up_after_a_bounded_number_of_entries(repository, clock, monkeypatch):
    fill(repository, clock, 3)
    for number in range(100, 160):
        post(repository, number, ("python",))
        clock.advance(1000)
    monkeypatch.setattr(gathering, "MOST_LOOKED_AT", 40)

    page = repository.lists.get_page(Order.TIME, size=1, hidden=Hiding(("python",)))

    assert (page.articles, page.has_next) == ((), False)
    monkeypatch.setattr(gathering, "MOST_LOOKED_AT", 4000)
    assert len(repository.lists.get_page(Order.TIME, size=1, hidden=Hiding(("python",))).articles) == 1


@pytest.mark.parametrize("order", Order)
def test_articles_already_shown_are_skipped_and_the_rest_follows(repository, clock, order):
    fill(repository, clock)
    everything = whole(repository, order)

    page = repository.lists.get_page(order, 2, shown=everything[:25])

    assert ids_of(page) == everything[25:50]
    assert (page.first_rank, page.has_next, page.total, page.pages) == (26, True, 60, 3)
    last = repository.lists.get_page(order, 3, shown=everything[:50])
    assert (ids_of(last), last.has_next) == (everything[50:], False)
    assert repository.lists.get_page(order, 4, shown=everything).articles == ()
