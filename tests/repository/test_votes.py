"""Votes: what each is worth, which member holds which, and when they no longer count."""

import pytest

from articles.domain import ranking
from articles.domain.articles import Choice, Tally
from articles.domain.errors import VotingClosed
from articles.domain.lists import Order
from tests.cast import ALICE, BOB
from tests.factories import imported, link
from tests.rules import connect, default_rules
from tests.store_state import problems

pytestmark = pytest.mark.one_shard


def ranked(repository, article_id: int) -> float | None:
    """Return the front page's score of an article."""
    keys = repository.store.shards.of(article_id)
    return repository.store.client.zscore(keys.order(Order.SCORE), article_id)


@pytest.mark.parametrize(
    "posted_at", [1_700_000_000.0, 1_700_000_000.123, 1_700_000_000.9994, 1_700_000_000.57351]
)
@pytest.mark.parametrize("choice", Choice)
def test_a_choice_exactly_at_the_end_of_the_window_counts_and_a_millisecond_later_does_not(
    repository, clock, posted_at, choice
):
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


@pytest.mark.parametrize("now", [1_700_000_000.123456, 1_699_999_999.9995, 1_234_567_890.007, 4_102_444_800.001])
def test_scores_of_articles_posted_within_a_second_are_exact(repository, clock, now):
    clock.now = now
    repository.clock.accept()
    article_id = repository.articles.post(ALICE, "alice", "On clocks", link(1)).id
    for user in (BOB, 20, 21):
        repository.votes.cast(article_id, user, Choice.VOTE)

    found = repository.articles.get(article_id)

    assert found.posted_at == round(now, 3)
    assert ranked(repository, article_id) == found.posted_at + 432 * 4
    assert ranked(repository, article_id) == ranking.score(found.posted_at, 4, seconds_per_point=432)


@pytest.mark.parametrize("votes_per_day", [1, 7, 13, 4_999, 86_400])
def test_scores_are_exact_even_if_a_vote_is_worth_a_fraction_of_a_second(repository, clock, votes_per_day):
    rules, store = default_rules(votes_per_day=votes_per_day), repository.store
    other = connect(store.client, shards=store.shards.count, rules=rules, clock=clock)
    other.adopt_rules()
    clock.now = 1_700_000_000.123
    article_id = other.articles.post(ALICE, "alice", "On clocks", link(1)).id
    for user in range(10, 16):
        other.votes.cast(article_id, user, Choice.VOTE)

    found = other.articles.get(article_id)

    assert ranked(other, article_id) == found.score == found.posted_at + 86_400 / votes_per_day * 7
    assert problems(other) == []


def test_large_counts_are_exact(repository, clock):
    (article_id,) = repository.imports.add([imported(1, clock() - 60.5, votes=123_456, opposes=54_321)])

    tally = repository.votes.cast(article_id, BOB, Choice.OPPOSE)

    assert tally == Tally(123_455, 54_322, Choice.OPPOSE)
    assert ranked(repository, article_id) == clock() - 60.5 + 432 * (123_455 - 54_322)
