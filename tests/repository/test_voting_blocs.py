"""Voting blocs, as they are read from the voter sets of a store."""

import pytest

from articles.domain.articles import Choice
from articles.domain.comments import article_of
from articles.domain.members import PLACEHOLDERS
from articles.repository import answer_within
from articles.repository.moderation import voting_rings
from tests.cast import ALICE, MODERATOR
from tests.clock import DAY
from tests.factories import comment_on, post, vote

RING = tuple(range(500, 508))


@pytest.fixture
def articles(repository):
    """Sixty articles with three votes each by members who vote once; the ring joins ten of them."""
    ids = [post(repository, number) for number in range(60)]
    for article in ids:
        vote(repository, article, 3)
    for n, article in enumerate(ids[::6]):
        for member in RING:
            repository.votes.cast(article, member, Choice.OPPOSE if n % 2 else Choice.VOTE)
    return ids


def found(repository):
    return [(bloc.members, bloc.articles) for bloc in repository.voting_blocs.get().blocs]


def test_accounts_that_vote_and_oppose_together_are_found_with_their_articles(repository, articles):
    ((members, shared),) = found(repository)

    assert members == RING
    assert sorted(shared) == articles[::6]
    assert repository.voting_blocs.get_articles(repository.voting_blocs.get().blocs).keys() == set(shared)


@pytest.fixture
def comments(repository):
    """Comments on sixty articles, with three votes each by members who vote once; the ring joins ten of them."""
    ids = [comment_on(repository, post(repository, number), "Agreed", ALICE) for number in range(60)]
    for n, comment in enumerate(ids):
        for member in range(1000 + 3 * n, 1003 + 3 * n):
            repository.comments.cast(comment, member, Choice.VOTE)
    for n, comment in enumerate(ids[::6]):
        for member in RING:
            repository.comments.cast(comment, member, Choice.OPPOSE if n % 2 else Choice.VOTE)
    return ids


def test_accounts_that_vote_on_comments_together_are_found_with_the_articles(repository, comments):
    ((members, shared),) = found(repository)

    assert members == RING
    assert sorted(shared) == [article_of(one) for one in comments[::6]]
    assert repository.voting_blocs.get_articles(repository.voting_blocs.get().blocs).keys() == set(shared)


def test_comments_whose_voter_sets_are_gone_damaged_ones_and_those_beyond_the_newest_are_not_compared(
    repository, comments, clock, monkeypatch, wire
):
    for comment in comments[1::6]:
        keys = repository.store.shards.of_comment(comment)
        repository.store.client.set(keys.comment_voted(comment + 1), "x")
        repository.store.client.zadd(keys.comment_voters, {str(comment + 1): clock(), "garbage": clock() + 10})
    assert [members for members, _ in found(repository)] == [RING]

    repository.voting_blocs._found = None
    monkeypatch.setattr(voting_rings, "MOST_COMMENTS", 16)
    with wire.counted():
        assert found(repository) == []
    assert wire.trips == 4, "one for the articles, whose sets have one member each, and two for the comments"


def test_what_was_found_is_kept_for_an_hour_and_in_no_key(repository, articles, clock):
    before = set(repository.store.client.scan_iter())
    kept = repository.voting_blocs.get()
    assert set(repository.store.client.scan_iter()) == before

    clock.advance(voting_rings.KEPT_SECONDS - 1)
    for article in articles:
        repository.articles.remove(article, MODERATOR, "Spam")
    assert repository.voting_blocs.get() is kept
    assert repository.voting_blocs.get_articles(kept.blocs) == {}
    clock.advance(1)

    assert (found(repository), repository.voting_blocs.get().at) == ([], clock())


def test_unnamed_voters_of_imports_and_damaged_sets_are_passed_over(repository, articles):
    client = repository.store.client
    for article in articles[::6]:
        keys = repository.store.shards.of(article)
        client.sadd(keys.voted(article), *PLACEHOLDERS[:6], "garbage")
    client.delete(repository.store.shards.of(articles[1]).voted(articles[1]))
    client.set(repository.store.shards.of(articles[1]).voted(articles[1]), "x")

    assert [members for members, _ in found(repository)] == [RING]


def test_an_account_is_one_object_in_all_ballots(repository, articles):
    accounts = [member for ballot in repository.voting_blocs._ballots() for member in ballot.members]

    assert len(accounts) > len(set(accounts))
    assert len(set(map(id, accounts))) == len(set(accounts))


def test_articles_whose_voter_sets_are_gone_and_older_ones_are_not_read(repository, articles, clock, wire):
    found(repository)
    clock.advance(10 * DAY)
    with wire.counted():
        assert found(repository) == []

    assert wire.trips == 1


def test_the_first_look_is_not_held_to_the_time_that_other_pages_wait(repository, articles):
    with answer_within(0):
        assert [members for members, _ in found(repository)] == [RING]


def test_the_number_of_round_trips_does_not_grow_with_the_votes(repository, articles, wire):
    found(repository)
    repository.voting_blocs._found = None
    with wire.counted():
        found(repository)

    assert wire.trips == 3
