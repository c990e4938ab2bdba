"""Members' visits to articles: when the one before ended, how many are kept, and for how long."""

import pytest

from articles.domain.readership import Suspicion
from articles.repository.readership.pageviews import VISIT_PAUSE_SECONDS
from tests.cast import ALICE, BOB
from tests.clock import DAY
from tests.factories import post, visit
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
def test_the_newest_visits_are_kept_for_some_months(repository, clock):
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
        assert 89 * DAY < repository.store.client.ttl(keys.visits(BOB)) <= 90 * DAY


def test_the_visits_of_a_deleted_member_are_forgotten(repository, article):
    opened(repository, article)

    repository.account_deletion.advance(BOB, "bob", "", lambda: True)

    assert repository.members.list_visits(BOB) == []


def test_damaged_visits_are_none(repository, article, clock):
    opened(repository, article)
    keys = repository.store.shards.of(article)
    for damage in ("x", "x y", "1 2 3", ""):
        repository.store.client.hset(keys.visits(BOB), str(article), damage)
        clock.advance(DAY)
        assert opened(repository, article) is None
    repository.store.client.set(keys.visits(BOB), "no hash")
    assert opened(repository, article) is None
    assert problems(repository) != []
    repository.repair.run()
    assert problems(repository) == []
