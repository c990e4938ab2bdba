"""Members' votes are left out of ranking in one act, and count again in one act."""

from itertools import islice

import pytest

from articles.domain.articles import NONE_LEFT_OUT, Choice, LeftOut
from articles.domain.lists import Order
from articles.domain.moderation.log import Action, Actor
from articles.repository.moderation import left_out as acts
from tests.cast import ALICE, BOB, MALLORY, MODERATOR
from tests.clock import DAY
from tests.factories import imported, post
from tests.repository.usage import let_pass, listed, warm
from tests.store_state import contents, problems

OTHER = Actor(4, "other")


@pytest.fixture
def articles(repository, clock):
    """Ids of five articles: mallory voted for the first two, opposed two, and chose nothing on the last."""
    repository.groups.create("python", "Python", MODERATOR)
    ids = []
    for number in range(5):
        ids.append(post(repository, number + 1, ("python",)))
        clock.advance(60)
    for article, choice in zip(ids, [Choice.VOTE] * 2 + [Choice.OPPOSE] * 2, strict=False):
        repository.votes.cast(article, MALLORY, choice)
    warm(repository, "python")
    return ids


def leave_out(repository, member=MALLORY):
    return repository.left_out.leave_out(member, "mallory", MODERATOR, "A ring")


def count_again(repository, member=MALLORY):
    return repository.left_out.count_again(member, "mallory", OTHER, "They are honest")


def points(repository, articles):
    return [article.ranked_points for article in repository.articles.get_many(articles)]


def test_left_out_votes_stay_and_do_not_affect_ranks(repository, articles):
    before = repository.articles.get_many(articles, MALLORY)

    assert sum(leave_out(repository)) == 4

    after = repository.articles.get_many(articles, MALLORY)
    assert [(one.votes, one.opposes, one.choice) for one in after] == [
        (one.votes, one.opposes, one.choice) for one in before
    ]
    assert [one.left_out for one in after] == [LeftOut(1, 0)] * 2 + [LeftOut(0, 1)] * 2 + [NONE_LEFT_OUT]
    assert points(repository, articles) == [1] * 5
    newest = [*reversed(articles)]
    for slug in (None, "python"):
        assert listed(repository, Order.SCORE, slug) == listed(repository, Order.POINTS, slug) == newest
    parts = repository.explanations.get(after[0]).score
    assert (parts.votes, parts.points, parts.value) == (2, 1, after[0].score)
    assert sum(leave_out(repository)) == 0, "it is idempotent"
    (entry,) = (e for e in repository.moderation_log.get_page().entries if e.action is Action.LEAVE_OUT_VOTES)
    assert (entry.actor_name, entry.title, entry.reason) == (MODERATOR.name, "mallory", "A ring")
    assert problems(repository) == []


def test_counting_again_restores_every_rank(repository, articles):
    before = contents(repository)
    list(leave_out(repository))

    assert sum(count_again(repository)) == 4

    after = contents(repository)
    assert {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)} <= {
        name for keys in repository.store.shards.all for name in (keys.log, keys.left_out_acts)
    }
    assert sum(count_again(repository)) == 0
    assert repository.moderation_log.get_page().entries[0].action is Action.COUNT_VOTES


def test_later_votes_are_left_out_too(repository, articles, clock):
    list(leave_out(repository))

    repository.votes.cast(articles[0], MALLORY, Choice.OPPOSE)
    repository.votes.cast(articles[1], MALLORY, Choice.NONE)
    repository.votes.cast(articles[4], MALLORY, Choice.VOTE)
    with repository.imports.lock():
        repository.imports.add([imported(1, clock() - 60, poster=MALLORY, votes=3, opposes=0)])
    articles += [max(listed(repository)), post(repository, 6, poster=MALLORY)]
    repository.votes.cast(articles[4], BOB, Choice.VOTE)

    assert points(repository, articles) == [1, 1, 1, 1, 2, 2, 0]
    assert problems(repository) == []
    list(count_again(repository))
    assert points(repository, articles) == [0, 1, 0, 0, 3, 3, 1]
    assert problems(repository) == []


def test_an_interrupted_act_is_continued_and_a_later_one_ends_it(repository, articles, monkeypatch):
    monkeypatch.setattr(acts, "ARTICLES_PER_CHECK", 1)
    first = leave_out(repository)
    list(islice(first, 1))
    assert not repository.left_out.get_state(MALLORY).is_settled
    assert problems(repository) == [], "an act that is not complete breaks no invariant"
    repository.votes.cast(articles[3], MALLORY, Choice.VOTE)

    list(repository.left_out.go_on(MALLORY))

    assert repository.left_out.get_state(MALLORY) == acts.LeftOutState(is_left_out=True, is_settled=True)
    assert points(repository, articles) == [1] * 5
    begun = count_again(repository)
    next(begun)
    list(leave_out(repository))
    assert sum(begun) == 0
    assert points(repository, articles) == [1] * 5
    assert problems(repository) == []


def test_closed_articles_keep_what_ranks_them(repository, articles, clock):
    list(leave_out(repository))
    let_pass(repository, clock, repository.rules.voting_window + 1000)

    assert sum(count_again(repository)) == 0

    assert points(repository, articles) == [1] * 5
    repository.repair.run()
    assert points(repository, articles) == [1] * 5
    let_pass(repository, clock, 3 * DAY)
    repository.clock.drop_voters(60)
    assert not any("leftout:" in name and "acts" not in name for name in contents(repository))
    assert problems(repository) == []


@pytest.mark.parametrize(
    ("harm", "problem"),
    [
        (lambda client, keys, n: client.hset(keys.article(n), "left_out", "2 0"), "left out of ranking 2 0"),
        (lambda client, keys, n: client.unlink(keys.left_out_on(n)), "counts, but is to be left out of ranking"),
        (lambda client, keys, n: client.srem(keys.left_out, MALLORY), "is left out of ranking, but is to count"),
        (lambda client, keys, n: client.hdel(keys.article(n), "left_out"), "score"),
    ],
)
def test_the_audit_finds_a_wrong_rank_and_the_repair_fixes_it(repository, articles, harm, problem):
    list(leave_out(repository))

    harm(repository.store.client, repository.store.shards.of(articles[0]), articles[0])

    assert any(problem in finding for finding in problems(repository))
    repository.repair.run()
    assert problems(repository) == []


def test_a_deleted_members_votes_stay_left_out_and_the_log_loses_the_name(repository, articles):
    list(leave_out(repository))

    assert repository.account_deletion.advance(MALLORY, "mallory", "", lambda: True) == ""

    repository.repair.run()
    assert points(repository, articles) == [1] * 5
    assert repository.moderation_log.get_page().entries[0].title == "~"
    assert repository.articles.get(articles[0], ALICE).votes == 2
    assert problems(repository) == []
