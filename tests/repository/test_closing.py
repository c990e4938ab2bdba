"""When voting ends: every article keeps the window it was posted with, even when the setting changes later."""

from dataclasses import replace

import pytest

from articles.domain.articles import Choice
from articles.domain.errors import VotingClosed
from articles.domain.rules import Rules
from articles.repository import Repository
from tests.cast import ALICE, BOB, CAROL
from tests.clock import DAY
from tests.factories import imported, post
from tests.rules import connect, default_rules
from tests.store_state import problems

pytestmark = pytest.mark.one_shard

VOTERS = range(100, 110)


def reopened(repository: Repository, days: float, **changes: object) -> Repository:
    """Open the same store with another VOTING_WINDOW_DAYS."""
    rules = replace(repository.rules, voting_window=days * DAY, **changes)  # type: ignore[arg-type]
    store = repository.store
    return connect(store.client, shards=store.shards.count, rules=rules, clock=store.now)


def expire(repository: Repository, article_id: int) -> None:
    """Delete the article's voter sets, as housekeeping does."""
    keys = repository.store.shards.of(article_id)
    repository.store.client.delete(keys.voted(article_id), keys.oppose(article_id))


def closes(repository: Repository, article_id: int) -> str | None:
    return repository.store.client.hget(repository.store.shards.of(article_id).article(article_id), "closes")


def forget_closing_times(repository: Repository) -> None:
    """Take the closing times of all articles from the store, and the window that the shards remember."""
    client = repository.store.client
    for keys in repository.store.shards.all:
        client.hdel(keys.ranking, "voting_window", "longest_window")
        for number in range(1, 20):
            client.hdel(keys.article(number), "closes")


# The setting changes


def test_a_longer_window_reopens_no_article_and_takes_no_second_vote(repository, clock):
    number = post(repository, 1)
    for user in VOTERS:
        repository.votes.cast(number, user, Choice.VOTE)
    clock.advance(10 * DAY)
    expire(repository, number)
    longer = reopened(repository, 30)

    with pytest.raises(VotingClosed):
        longer.votes.cast(number, VOTERS[0], Choice.VOTE)

    assert not longer.articles.get(number).is_open(clock())
    assert longer.articles.get(number).votes == 1 + len(VOTERS)
    assert problems(longer) == []


def test_an_article_closes_at_the_same_moment_under_every_setting(repository, clock):
    number, end = post(repository, 1), clock() + 7 * DAY
    for days in (1, 30):
        other = reopened(repository, days)
        clock.now = end
        assert other.articles.get(number).closes_at == end
        assert other.votes.cast(number, BOB, Choice.VOTE).votes == 2
        clock.now = end + 0.001
        with pytest.raises(VotingClosed):
            other.votes.cast(number, CAROL, Choice.VOTE)


def test_a_new_article_gets_the_new_window(repository, clock):
    longer = reopened(repository, 30)
    number = post(longer, 1)

    assert closes(longer, number) == f"{clock() + 30 * DAY:.3f}"
    clock.advance(29 * DAY)
    assert repository.votes.cast(number, BOB, Choice.VOTE).votes == 2
    assert problems(repository) == []


def test_a_shorter_window_forgets_no_choice_on_an_open_article(repository, clock):
    longer = reopened(repository, 60)
    number = post(longer, 1)
    longer.votes.cast(number, BOB, Choice.VOTE)
    keys = longer.store.shards.of(number)
    longer.store.client.zadd(keys.votes_of(BOB), {str(other): clock() + other for other in range(5000, 6001)})
    clock.advance(20 * DAY)
    shorter = reopened(longer, 1)

    for other in range(2, 6):
        shorter.votes.cast(post(shorter, other), BOB, Choice.VOTE)

    assert number in [article_id for article_id, _ in shorter.members.iterate_choices(BOB, Choice.VOTE)]


# Imports


def test_an_imported_article_keeps_its_own_closing_time(repository, clock):
    at = clock() - 8 * DAY
    longer = reopened(repository, 30)
    closed, still_open = longer.imports.add(
        [imported(1, at, closes_at=at + 7 * DAY), imported(2, at, closes_at=at + 9 * DAY)]
    )

    with pytest.raises(VotingClosed):
        longer.votes.cast(closed, CAROL, Choice.VOTE)
    assert longer.votes.cast(still_open, CAROL, Choice.VOTE).votes == 4
    assert longer.articles.get(closed).closes_at == at + 7 * DAY
    assert problems(longer) == []


def test_an_imported_article_without_a_closing_time_gets_the_window_of_this_site(repository, clock):
    (number,) = reopened(repository, 30).imports.add([imported(1, clock() - 8 * DAY)])

    assert repository.votes.cast(number, CAROL, Choice.VOTE).votes == 4
    assert problems(repository) == []


def test_a_repair_with_a_longer_window_reopens_no_article_whose_voters_were_dropped(repository, clock):
    expired, still_known = post(repository, 1), post(repository, 2)
    clock.advance(10 * DAY)
    expire(repository, expired)
    forget_closing_times(repository)
    longer = reopened(repository, 30)
    longer.prepare()

    longer.repair.run()

    with pytest.raises(VotingClosed):
        longer.votes.cast(expired, ALICE, Choice.VOTE)
    assert longer.articles.get(expired).closes_at == clock() - longer.rules.voters_grace
    assert longer.votes.cast(still_known, ALICE, Choice.VOTE).votes == 1
    assert problems(longer) == []


def test_an_article_without_a_closing_time_uses_the_stored_window_until_it_is_repaired(repository, clock):
    number, end = post(repository, 1), clock() + 7 * DAY
    keys = repository.store.shards.of(number)
    repository.store.client.hdel(keys.article(number), "closes")
    other = reopened(repository, 30)

    assert other.articles.get(number).closes_at == end
    assert problems(other) == [f"{keys.article(number)}: does not say when voting ends"]
    clock.advance(7 * DAY)
    assert other.votes.cast(number, BOB, Choice.VOTE).votes == 2
    clock.advance(0.001)
    with pytest.raises(VotingClosed):
        other.votes.cast(number, CAROL, Choice.VOTE)

    other.repair.run()

    assert closes(other, number) == f"{end:.3f}"
    assert problems(other) == []


# The longest window


def test_a_longest_window_that_is_too_short_is_reported_and_repaired(repository):
    number = post(reopened(repository, 30), 1)
    keys = repository.store.shards.of(number)
    repository.store.client.hset(keys.ranking, "longest_window", "604800.000")
    assert problems(repository) == [f"{keys.article(number)}: open for longer than any article"]

    repository.repair.run()

    assert repository.store.client.hget(keys.ranking, "longest_window") == f"{30 * DAY:.3f}"
    assert problems(repository) == []


@pytest.fixture
def rules() -> Rules:
    return default_rules()
