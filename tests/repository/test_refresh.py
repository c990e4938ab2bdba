"""The refresh of open pages, on every kind of store."""

import pytest

from articles.domain.articles import Choice
from articles.domain.lists import Order
from tests.cast import ALICE, BOB
from tests.factories import view


def post_many(repository, clock, count, groups=()):
    ids = []
    for n in range(count):
        clock.advance(10)
        ids.append(repository.articles.post(ALICE, "alice", f"T {n}", f"https://e.org/{n}", groups).id)
    return ids


@pytest.mark.parametrize("order", [Order.SCORE, Order.HOT, Order.POINTS])
def test_a_refresh_returns_articles_in_list_order(repository, clock, order):
    ids = post_many(repository, clock, 12)
    for number in (ids[3], ids[7]):
        repository.votes.cast(number, BOB, Choice.VOTE)
        view(repository, number, 3)
    for number in ids:
        view(repository, number, 4)
    page = repository.lists.get_page(order)

    found = repository.refresh.get(sorted(article.id for article in page.articles), order=order)

    assert [article.id for article in found.articles] == [article.id for article in page.articles]


def test_a_refresh_finds_new_articles_in_every_shard(repository, clock):
    first, *others = post_many(repository, clock, 9)
    since = repository.articles.get(first).posted_at

    found = repository.refresh.get([first], since=since)

    assert ([article.id for article in found.articles], found.new, found.has_more_new) == ([first], 8, False)
    assert repository.refresh.get([first, *others[4:]], since=since).new == 4
    assert repository.refresh.get([first], since=since + 11).new == 7


def test_a_refresh_includes_the_readers_own_choices(repository, article):
    repository.votes.cast(article, BOB, Choice.OPPOSE)

    assert repository.refresh.get([article], reader=BOB).articles[0].choice is Choice.OPPOSE
    assert repository.refresh.get([article], reader=ALICE).articles[0].choice is Choice.VOTE


def test_an_article_that_left_the_hot_list_comes_last(repository, clock):
    cold, warm = post_many(repository, clock, 2)
    view(repository, warm, 1)

    found = [article.id for article in repository.refresh.get([cold, warm], order=Order.HOT).articles]
    assert found == [warm, cold]
