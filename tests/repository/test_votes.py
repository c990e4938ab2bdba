"""Votes: what each is worth, which member holds which, and when they no longer count."""

import pytest

from articles.domain.articles import Choice, Tally
from articles.domain.errors import VotingClosed
from articles.domain.lists import Order
from tests.cast import ALICE, BOB
from tests.factories import imported, link

pytestmark = pytest.mark.one_shard


def ranked(repository, article_id: int) -> float | None:
    """Return the front page's score of an article."""
    keys = repository.store.shards.of(article_id)
    return repository.store.client.zscore(keys.order(Order.SCORE), article_id)


@pytest.mark.parametrize(
    "posted_at", [1_700_000_000.0, 1_700_000_000.123, 1_700_000_000.9994, 1_700_000_000.57351]
)
@pytest.mark.parametrize("choice", Choice)
def test_a_choice_at_the_end_of_the_window_counts_and_just_later_not(repository, clock, posted_at, choice):
    clock.now = posted_at
    article_id = repository.articles.post(ALICE, "alice", "On clocks", link(1)).id
    end = repository.articles.get(article_id).closes_at

    clock.now = end + 0.0004  # still the same millisecond
    assert repository.articles.get(article_id).is_open(end)
    assert repository.votes.cast(article_id, BOB, choice).choice is choice

    clock.now = end + 0.001
    assert not repository.articles.get(article_id).is_open(clock())
    with pytest.raises(VotingClosed):
        repository.votes.cast(article_id, BOB, choice)


VOTE, OPPOSE, NONE = Choice.VOTE, Choice.OPPOSE, Choice.NONE


def test_large_counts_are_exact(repository, clock):
    (article_id,) = repository.imports.add([imported(1, clock() - 60.5, votes=123_456, opposes=54_321)])

    tally = repository.votes.cast(article_id, BOB, Choice.OPPOSE)

    assert tally == Tally(123_455, 54_322, Choice.OPPOSE)
    assert ranked(repository, article_id) == clock() - 60.5 + 432 * (123_455 - 54_322)
