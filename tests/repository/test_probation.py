"""The votes of members on probation are left out of ranking until it ends, and then count all at once."""

import random
from contextlib import suppress
from itertools import islice

import pytest

from articles.domain.articles import NONE_LEFT_OUT, Choice, LeftOut
from articles.domain.errors import StoreUnavailable
from articles.domain.moderation_log import Action
from articles.repository.moderation.left_out import LeftOutState
from tests.cast import ALICE, BOB, MALLORY, MODERATOR
from tests.clock import DAY
from tests.every_server import with_methods_of
from tests.factories import comment_on, post
from tests.repository.breaking import BreakingServer
from tests.repository.usage import let_pass
from tests.rules import connect
from tests.store_state import problems

WAITS = LeftOutState(is_left_out=False, is_settled=True, waits=True)
COUNTS = LeftOutState(is_left_out=False, is_settled=True)
OUT = LeftOutState(is_left_out=True, is_settled=True)


@pytest.fixture
def articles(repository):
    """Ids of five articles; mallory is on probation, voted for the first two, and opposed two."""
    ids = [post(repository, number + 1) for number in range(5)]
    begin(repository)
    for article, choice in zip(ids, [Choice.VOTE] * 2 + [Choice.OPPOSE] * 2, strict=False):
        repository.votes.cast(article, MALLORY, choice)
    return ids


def begin(repository, member=MALLORY):
    repository.left_out.begin_probation(member)
    list(repository.left_out.go_on(member))


def points(repository, articles):
    return [article.ranked_points for article in repository.articles.get_many(articles)]


def state(repository, member=MALLORY):
    return repository.left_out.get_state(member)


def logged(repository):
    return [entry.action for entry in repository.moderation_log.get_page().entries]


def test_votes_of_a_member_on_probation_are_counted_but_do_not_rank(repository, articles):
    found = repository.articles.get_many(articles, MALLORY)

    assert [(one.votes, one.opposes) for one in found] == [(2, 0)] * 2 + [(1, 1)] * 2 + [(1, 0)]
    assert [one.left_out for one in found] == [LeftOut(1, 0)] * 2 + [LeftOut(0, 1)] * 2 + [NONE_LEFT_OUT]
    assert points(repository, articles) == [1] * 5
    assert state(repository) == WAITS
    assert len(repository.members.get_voted(MALLORY).articles) == 2
    assert logged(repository) == []
    assert problems(repository) == []


def test_votes_cast_before_probation_wait_too_once_it_is_settled(repository):
    article = post(repository, 1)
    comment = comment_on(repository, article, "Agreed", ALICE)
    repository.votes.cast(article, MALLORY, Choice.VOTE)
    repository.comments.cast(comment, MALLORY, Choice.VOTE)

    repository.left_out.begin_probation(MALLORY)

    assert repository.left_out.list_on_probation(10) == {MALLORY: True}
    assert problems(repository) == [], "an act that is not complete breaks no invariant"
    list(repository.left_out.go_on(MALLORY))
    assert repository.left_out.list_on_probation(10) == {MALLORY: False}
    assert points(repository, [article]) == [1]
    assert repository.comments.get(comment).left_out == LeftOut(1, 0)
    list(repository.left_out.end_probation(MALLORY))
    assert repository.comments.get(comment).left_out == NONE_LEFT_OUT
    assert points(repository, [article]) == [2]
    assert problems(repository) == []


@pytest.mark.parametrize("seed", range(8))
def test_points_of_a_member_are_those_that_others_gave_and_that_rank(repository, clock, seed):
    draw = random.Random(seed)
    voters, waiting, given = range(901, 911), set[int](), dict[int, dict[int, int]]()
    for number in range(12):
        if draw.random() < 0.4:
            one = draw.choice([ALICE, *voters])
            decide = repository.left_out.count_again if one in waiting else repository.left_out.leave_out
            list(decide(one, str(one), MODERATOR, "A ring"))
            waiting ^= {one}
        article = post(repository, number + 1)
        given[article] = {
            one: draw.choice([1, 1, -1]) for one in draw.sample(voters, draw.choice([0, 1, 1, 2, 5]))
        }
        for one, value in given[article].items():
            repository.votes.cast(article, one, Choice.VOTE if value > 0 else Choice.OPPOSE)
    wanted = sum(value for one in given.values() for voter, value in one.items() if voter not in waiting)

    assert repository.members.get_points(ALICE, ranked=True) == wanted
    let_pass(repository, clock, 99 * DAY)
    repository.clock.drop_voters(60)
    assert wanted - len(given) <= repository.members.get_points(ALICE, ranked=True) <= wanted


@pytest.mark.parametrize(
    ("entry", "actions"), [(("mallory", "carol", "Spam"), [Action.LEAVE_OUT_VOTES]), ((), [])]
)
def test_votes_of_failed_probation_never_count(repository, articles, entry, actions):
    list(repository.left_out.fail_probation(MALLORY, *entry))

    assert sum(repository.left_out.end_probation(MALLORY)) == 0
    repository.votes.cast(articles[4], MALLORY, Choice.VOTE)
    assert state(repository) == OUT
    assert points(repository, articles) == [1] * 5
    assert logged(repository) == actions
    assert problems(repository) == []


def test_a_deleted_members_votes_go_on_waiting_until_probation_fails(repository, articles):
    assert repository.account_deletion.advance(MALLORY, "mallory", "", lambda: True) == ""

    list(repository.left_out.fail_probation(MALLORY))

    repository.repair.run()
    assert points(repository, articles) == [1] * 5
    assert repository.left_out.list_on_probation(10) == {}
    assert problems(repository) == []


@pytest.mark.deep
@pytest.mark.parametrize(("act", "after"), [("end_probation", COUNTS), ("fail_probation", OUT)])
def test_an_act_that_stops_anywhere_is_found_and_continued(small_batches, repository, articles, act, after):
    steps = len([*getattr(repository.left_out, act)(MALLORY)])
    for stop in range(steps):
        put_back(repository)

        list(islice(getattr(repository.left_out, act)(MALLORY), stop + 1))

        is_complete = repository.left_out.get_state(MALLORY) == after
        assert is_complete or repository.left_out.list_on_probation(10) == {MALLORY: True}
        assert problems(repository) == []
        list(repository.left_out.go_on(MALLORY))
        assert state(repository) == after
        assert repository.left_out.list_on_probation(10) == {}
        assert problems(repository) == []
    assert steps > 4


def test_probation_that_began_in_some_shards_only_begins_in_all_before_the_next_vote(repository, articles):
    shards = repository.store.shards.count
    for commands in range(shards):
        member = 20 + commands
        client = with_methods_of(BreakingServer, repository.store.client)
        client.left = commands
        with suppress(StoreUnavailable):
            connect(client, shards=shards, clock=repository.store.now).left_out.begin_probation(member)
        assert problems(repository) == []
        assert repository.left_out.may_begin_probation(member)
        repository.left_out.begin_probation(member)
        for article in articles:
            repository.votes.cast(article, member, Choice.VOTE)
        list(repository.left_out.go_on(member))
        assert state(repository, member) == WAITS
    assert points(repository, articles) == [1] * 5
    assert problems(repository) == []


def put_back(repository):
    """Let mallory be on probation again, as no act of the site can."""
    assert repository.left_out.get_state(MALLORY).is_settled
    for keys in repository.store.shards.all:
        repository.store.client.hdel(keys.left_out_acts, MALLORY)
        repository.store.client.srem(keys.left_out, MALLORY)
    begin(repository)


@pytest.mark.parametrize(
    ("harm", "problem", "after"),
    [
        (lambda client, first, last: client.srem(last.left_out, MALLORY), "does not leave|leaves", WAITS),
        (lambda client, first, last: client.hdel(last.left_out_acts, MALLORY), "act 0 does not leave", WAITS),
        (lambda client, first, last: client.hset(last.left_out_acts, MALLORY, "3 done"), "do not wait", OUT),
        (lambda client, first, last: client.sadd(last.probation, BOB), "of 2 do not wait by act 0", WAITS),
    ],
)
def test_wrong_records_of_probation_are_found_and_mended(repository, articles, harm, problem, after):
    shards = repository.store.shards.all
    harm(repository.store.client, shards[0], shards[-1])

    found = problems(repository)
    assert any(text in finding for finding in found for text in problem.split("|")), found
    repository.repair.run()
    assert state(repository) == after
    assert points(repository, articles) == [1] * 5
    assert state(repository, BOB) == COUNTS
    assert problems(repository) == []


@pytest.mark.parametrize("repository", [4], indirect=True)
def test_a_member_on_probation_in_some_shards_only_is_found_and_mended(repository, articles):
    client, shards = repository.store.client, repository.store.shards.all
    client.srem(shards[-1].probation, MALLORY)

    assert any("is on probation in some shards only" in finding for finding in problems(repository))
    repository.repair.run()
    assert client.sismember(shards[-1].probation, MALLORY)
    client.srem(shards[0].probation, MALLORY)
    repository.repair.run()
    assert state(repository) == OUT, "the first shard decides"
    assert problems(repository) == []
