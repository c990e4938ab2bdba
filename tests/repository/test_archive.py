"""View counters that leave the store and are restored. Real servers only: fakeredis has no native HyperLogLog."""

from dataclasses import replace

import pytest

from articles.domain.errors import ArticleRemoved, ViewsArchived
from articles.domain.lists import Order
from articles.domain.readership import Suspicion, Visit
from articles.repository import Counters, Repository
from tests.cast import MODERATOR
from tests.clock import DAY, Clock
from tests.factories import post
from tests.repository.usage import listed, warm
from tests.store_state import problems


def visitor(number: int) -> str:
    return f"{number:016x}"


def read(repository: Repository, article_id: int, *visitors: int) -> None:
    """Record one counted view by each visitor."""
    now = repository.store.now()
    counts = repository.pageviews.record_many([(article_id, Visit(visitor(n)), now) for n in visitors])
    assert all(count and count.counted for count in counts)


def suspect(repository: Repository, article_id: int, suspicion: Suspicion = Suspicion.BOT) -> None:
    repository.pageviews.record(article_id, Visit(visitor(0), suspicion=suspicion))


@pytest.fixture
def idle(repository: Repository, clock: Clock) -> Repository:
    """A store with articles 1 to 3 in the group python: 1 and 2 were read 90 days ago, 3 a second later."""
    repository.groups.create("python", "Python")
    for number in (1, 2, 3):
        post(repository, number, ("python",))
    read(repository, 1, *range(10, 15))
    read(repository, 2, 10)
    suspect(repository, 1)
    suspect(repository, 1, Suspicion.PREFETCH)
    clock.advance(1)
    read(repository, 3, 10, 11)
    clock.advance(90 * DAY - 1)
    warm(repository, "python")
    return repository


def away(repository: Repository, article_id: int = 1) -> Counters:
    """Archive an article's counters; return them."""
    (counters,) = repository.archive.get_counters([article_id])
    assert repository.archive.store([counters]) == 1
    return counters


def numbers(repository: Repository, article_id: int = 1) -> tuple[int, int]:
    article = repository.articles.get(article_id)
    return article.pv, article.uv


def test_articles_without_recent_views_are_due_the_longest_unread_first(idle, clock):
    assert sorted(idle.archive.list_due(10)) == [1, 2]
    clock.advance(1)
    assert idle.archive.list_due(10)[2:] == [3]
    assert len(idle.archive.list_due(2)) == 2
    read(idle, 2, 99)
    assert idle.archive.list_due(10) == [1, 3]


def test_an_archived_article_keeps_only_its_numbers(idle):
    away(idle)

    assert numbers(idle) == (5, 5)
    assert idle.archive.is_archived(1)
    keys = idle.store.shards.of(1)
    assert not idle.store.client.exists(keys.views(1), keys.visitors(1), keys.suspects(1))
    assert idle.store.client.zscore(keys.viewed, "1") is None
    assert problems(idle) == []


def test_suspect_views_during_archiving_are_kept(idle):
    (counters,) = idle.archive.get_counters([1])
    suspect(idle, 1)
    suspect(idle, 1, Suspicion.BURST)

    assert idle.archive.store([counters]) == 1

    assert idle.pageviews.get_suspects(1) == {"bot": 1, "burst": 1}


def test_a_view_during_archiving_keeps_the_counters_in_the_store(idle):
    (counters,) = idle.archive.get_counters([1])
    read(idle, 1, 11)

    assert idle.archive.store([counters]) == 0

    assert numbers(idle) == (6, 5)
    assert not idle.archive.is_archived(1)
    assert problems(idle) == []


def test_a_view_of_an_archived_article_is_refused_until_its_counters_are_restored(idle):
    away(idle)

    with pytest.raises(ViewsArchived):
        idle.pageviews.record(1, Visit(visitor(77)))

    assert numbers(idle) == (5, 5)
    assert problems(idle) == []


def test_counters_are_restored_unchanged(idle):
    counters = away(idle)

    assert idle.archive.restore(1, counters)

    assert idle.archive.get_counters([1]) == [counters]
    assert not idle.archive.is_archived(1)
    assert problems(idle) == []


def test_views_continue_after_restoring_and_known_visitors_stay_known(idle):
    idle.archive.restore(1, away(idle))

    read(idle, 1, 10)
    assert numbers(idle) == (6, 5)
    read(idle, 1, 16)
    assert numbers(idle) == (7, 6)
    assert 1 in listed(idle, Order.HOT)
    assert problems(idle) == []


def test_restoring_twice_changes_nothing(idle):
    counters = away(idle)
    idle.archive.restore(1, counters)
    read(idle, 1, 16)

    assert idle.archive.restore(1, counters)
    assert idle.archive.restore(1, None)

    assert numbers(idle) == (6, 6)
    assert idle.pageviews.get_suspects(1) == {"bot": 1, "prefetch": 1}


@pytest.mark.parametrize("visitors", [1, 250, 30_000])
def test_an_article_with_lost_counters_keeps_the_numbers_readers_saw(idle, visitors):
    keys = idle.store.shards.of(1)
    idle.store.client.pfadd(keys.visitors(1), *range(visitors))
    away(idle)
    pv, uv = numbers(idle)

    assert not idle.archive.restore(1, None)

    assert numbers(idle)[0] == pv
    assert uv <= numbers(idle)[1] <= uv * 1.01 + 1
    assert problems(idle) == []
    read(idle, 1, 16)
    assert numbers(idle)[0] == pv + 1


@pytest.mark.parametrize("sketch", [b"", b"HYLL", b"HYLL\x01\x00\x00\x00" + bytes(12), b"nonsense"])
def test_a_damaged_sketch_counts_as_lost(idle, sketch):
    counters = away(idle)

    assert not idle.archive.restore(1, replace(counters, sketch=sketch))

    assert numbers(idle) == (5, 5)
    assert idle.pageviews.get_suspects(1) == {}
    assert problems(idle) == []


def test_a_clock_set_back_during_archiving_keeps_the_counters_in_the_store(idle, clock):
    (counters,) = idle.archive.get_counters([1])
    clock.advance(-1)

    assert idle.archive.store([counters]) == 0


def test_counters_larger_than_the_numbers_shown_are_rejected(idle):
    counters = away(idle)

    assert not idle.archive.restore(1, replace(counters, pv=6))
    assert numbers(idle) == (5, 5)
    read(idle, 1, 10)
    assert numbers(idle) == (6, 6), "visitor 10 is not known"


def test_removed_articles_are_archived_and_restored_with_their_numbers(idle):
    idle.articles.remove(1, MODERATOR, "Spam")
    assert 1 in idle.archive.list_due(10)

    counters = away(idle)

    assert problems(idle) == []
    with pytest.raises(ArticleRemoved):
        idle.pageviews.record(1, Visit(visitor(77)))
    idle.articles.restore(1, MODERATOR, "No spam")
    assert numbers(idle) == (5, 5)
    assert 1 not in listed(idle, Order.HOT)
    idle.archive.restore(1, counters)
    read(idle, 1, 77)
    assert listed(idle, Order.HOT)[0] == 1
    assert problems(idle) == []


def test_repair_leaves_archived_counters_in_the_archive(idle):
    away(idle)

    idle.repair.run()

    assert idle.archive.is_archived(1)
    assert numbers(idle) == (5, 5)
    assert problems(idle) == []
