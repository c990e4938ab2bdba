"""Votes: what each is worth, which member holds which, and when they no longer count."""

import pytest

from articles.domain import ranking
from articles.domain.articles import Article, Choice, Tally
from articles.domain.errors import ArticleNotFound, VotingClosed
from articles.domain.lists import Order
from tests.cast import ALICE, BOB, MALLORY
from tests.clock import DAY
from tests.every_server import count_of, delete
from tests.factories import imported, link
from tests.rules import connect, default_rules
from tests.store_state import problems

pytestmark = pytest.mark.one_shard

WINDOW = 604_800
"""Seconds from posting to the end of voting, and so from the first article to its last vote."""


@pytest.fixture
def posted(repository, article) -> Article:
    """Alice's article, as posted."""
    return repository.articles.get(article)


def ranked(repository, article_id: int) -> float | None:
    """Return the front page's score of an article."""
    keys = repository.store.shards.of(article_id)
    return repository.store.client.zscore(keys.order(Order.SCORE), article_id)


def voters(repository, article_id: int) -> list[str]:
    keys = repository.store.shards.of(article_id)
    return [keys.voted(article_id), keys.oppose(article_id)]


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


@pytest.mark.parametrize(
    ("choices", "votes", "opposes"),
    [
        ([(BOB, VOTE)], 2, 0),
        ([(BOB, OPPOSE)], 1, 1),
        ([(BOB, VOTE), (BOB, OPPOSE)], 1, 1),
        ([(BOB, OPPOSE), (BOB, VOTE)], 2, 0),
        ([(BOB, VOTE), (BOB, NONE)], 1, 0),
        ([(BOB, OPPOSE)] * 3, 1, 1),
        ([(ALICE, VOTE)], 1, 0),
        ([(ALICE, OPPOSE), (BOB, OPPOSE), (MALLORY, OPPOSE)], 0, 3),
    ],
)
def test_each_member_has_one_choice_and_each_point_is_worth_432_seconds(
    repository, posted, choices, votes, opposes
):
    for user, choice in choices:
        tally = repository.votes.cast(posted.id, user, choice)

    assert tally == Tally(votes, opposes, choices[-1][1])
    assert ranked(repository, posted.id) == posted.posted_at + 432 * (votes - opposes)
    assert repository.articles.get(posted.id, user).choice is choice
    assert problems(repository) == []


def test_voting_stays_closed_and_counts_are_kept_after_the_voter_sets_expire(repository, clock, posted):
    repository.votes.cast(posted.id, BOB, Choice.OPPOSE)
    clock.advance(WINDOW + 3 * DAY)
    assert delete(repository.store.client, *voters(repository, posted.id)) == 2  # as expiry would

    for user in (ALICE, BOB):
        with pytest.raises(VotingClosed):
            repository.votes.cast(posted.id, user, Choice.VOTE)

    kept = repository.articles.get(posted.id, BOB)
    assert (kept.votes, kept.opposes, kept.choice) == (1, 1, Choice.NONE)
    assert ranked(repository, posted.id) == posted.posted_at
    assert count_of(repository.store.client, *voters(repository, posted.id)) == 0
    assert problems(repository) == []


def test_voting_on_an_unknown_article_is_refused_and_leaves_nothing(repository):
    with pytest.raises(ArticleNotFound):
        repository.votes.cast(4711, BOB, Choice.VOTE)

    assert count_of(repository.store.client, *voters(repository, 4711)) == 0
    assert ranked(repository, 4711) is None


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


def test_a_vote_takes_one_round_trip(repository, wire):
    article_id = repository.articles.post(ALICE, "alice", "On clocks", link(1)).id
    repository.votes.cast(article_id, BOB, Choice.VOTE)

    for choice in Choice:
        with wire.counted():
            repository.votes.cast(article_id, BOB, choice)
        assert wire.trips == 1
