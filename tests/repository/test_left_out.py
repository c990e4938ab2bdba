"""Members' votes are left out of ranking in one act, and count again in one act."""

from itertools import cycle, islice

import pytest
import redis

from articles.domain.articles import NONE_LEFT_OUT, Choice, LeftOut
from articles.domain.comments import CommentOrder, article_of
from articles.domain.errors import StoreUnavailable
from articles.domain.lists import Order
from articles.domain.moderation_log import Action, Actor
from articles.repository.moderation import left_out
from tests.cast import ALICE, BOB, MALLORY, MODERATOR
from tests.every_server import with_methods_of
from tests.factories import comment_on, imported, post
from tests.repository.breaking import BreakingServer
from tests.repository.racing import interleaved
from tests.repository.usage import listed, warm
from tests.rules import connect
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


# Comments


@pytest.fixture
def comments(repository, clock):
    """Ids of twelve comments on four articles, three each: bob voted for the first, and the ring for the second.

    Mallory is one of the three accounts of the ring, and opposed the third.
    """
    ids = []
    for number in range(4):
        article = post(repository, 20 + number)
        ids += [comment_on(repository, article, text, ALICE) for text in ("first", "second", "third")]
        clock.advance(1)
        repository.comments.cast(ids[-3], BOB, Choice.VOTE)
        for member in (MALLORY, *RING):
            repository.comments.cast(ids[-2], member, Choice.VOTE)
        repository.comments.cast(ids[-1], MALLORY, Choice.OPPOSE)
    return ids


RING = (30, 31)


def best(repository, comments):
    """Return the order of each discussion, best comments first, as numbers of its comments."""
    threads = (repository.comments.get_thread(article_of(one), CommentOrder.BEST) for one in comments[::3])
    return [tuple(one.id % 10 for one in thread.comments) for thread in threads]


@pytest.mark.deep
@pytest.mark.parametrize("decide", [leave_out, count_again])
def test_the_audit_is_silent_at_every_step_and_votes_are_right(small_batches, repository, comments, decide):
    if decide is count_again:
        for member in (MALLORY, *RING):
            list(leave_out(repository, member))
    else:
        list(leave_out(repository, RING[0]))
    choices = cycle([Choice.OPPOSE, Choice.NONE, Choice.VOTE, Choice.NONE])

    steps = 0
    for _, comment, choice in zip(decide(repository), cycle(comments), choices, strict=False):
        assert problems(repository) == []
        for member in (MALLORY, RING[1]):
            repository.comments.cast(comment, member, choice)
        assert problems(repository) == []
        steps += 1

    assert steps > len(comments) / 3
    assert repository.left_out.get_state(MALLORY).is_settled
    assert problems(repository) == []


def test_what_two_acts_have_not_settled_yet_is_no_finding_but_more_is(small_batches, repository, comments):
    client, keys = repository.store.client, repository.store.shards.of_comment(comments[1])
    for member in (MALLORY, RING[0]):
        act = leave_out(repository, member)
        while client.hget(keys.left_out_acts, str(member)) != "1 open":
            next(act)
    assert problems(repository) == []

    client.hset(keys.comment(comments[1]), "left_out", "3 0")  # one more than the members of both acts

    assert any("left out of ranking 3 0" in finding for finding in problems(repository))


@pytest.mark.parametrize(
    "harm",
    [
        lambda client, keys, one: client.hdel(keys.comment(one), "left_out"),
        lambda client, keys, one: client.hset(keys.comment(one), "left_out", "1 0"),
        lambda client, keys, one: client.hset(keys.comment(one), "left_out", "garbage"),
        lambda client, keys, one: client.sadd(keys.comment_voted(one), RING[0]),
    ],
)
def test_the_audit_finds_wrong_left_out_votes_of_a_comment_and_the_repair_counts(repository, comments, harm):
    for member in (MALLORY, *RING):
        list(leave_out(repository, member))
    one = comments[2]

    harm(repository.store.client, repository.store.shards.of_comment(one), one)

    assert any(f"comment:{one}" in finding for finding in problems(repository))
    repository.store.client.srem(repository.store.shards.of_comment(one).comment_voted(one), RING[0])
    repository.repair.run()
    assert repository.comments.get(one).left_out == LeftOut(0, 1)
    assert problems(repository) == []


# What the shards say of a member


def said(repository, member=MALLORY):
    """Return what the shards say of a member: their acts, and whether they leave the member's choices out."""
    client, shards = repository.store.client, repository.store.shards.all
    return {
        (client.hget(keys.left_out_acts, str(member)), bool(client.sismember(keys.left_out, str(member))))
        for keys in shards
    }


def be(repository, keys, act, *, is_left_out, member=MALLORY):
    """Let a shard say this of a member; without an act if it is ""."""
    client = repository.store.client
    client.hdel(keys.left_out_acts, member)
    if act:
        client.hset(keys.left_out_acts, str(member), act)
    (client.sadd if is_left_out else client.srem)(keys.left_out, member)


def same_store(repository, client_class):
    """Return the same store as a process sees it that has such a client."""
    client = with_methods_of(client_class, repository.store.client)
    return connect(client, shards=repository.store.shards.count, clock=repository.store.now)


@pytest.mark.parametrize(
    ("shard", "act", "is_left_out", "problem", "ends"),
    [
        (0, "1 done", False, "leftout:: act 1 leaves the choices of 4 out of ranking", "1"),
        (-1, "1 done", False, "leftout:: act 1 leaves the choices of 4 out of ranking", "1"),
        (0, "1 open", False, "leftout:: act 1 leaves the choices of 4 out of ranking", "1"),
        (0, "2 done", True, "leftout:: act 2 does not leave the choices of 4 out of ranking", "2"),
        (0, "", True, "leftout:: act 0 does not leave the choices of 4 out of ranking", "1"),
        (-1, "", True, "leftout:: act 0 does not leave the choices of 4 out of ranking", "1"),
        (-1, "1 over", True, "leftout:: act 0 does not leave the choices of 4 out of ranking", "1"),
    ],
)
def test_a_shard_that_contradicts_its_act_is_mended(repository, articles, shard, act, is_left_out, problem, ends):
    list(leave_out(repository))

    be(repository, repository.store.shards.all[shard], act, is_left_out=is_left_out)

    assert any(problem in finding for finding in problems(repository))
    repository.repair.run()
    assert said(repository) == {(f"{ends} done", ends == "1")}
    assert points(repository, articles[:4]) == ([1] * 4 if ends == "1" else [2, 2, 0, 0])
    assert problems(repository) == []


@pytest.mark.parametrize("repository", [4], indirect=True)
@pytest.mark.parametrize(
    ("shard", "act", "problem", "ends"),
    [
        (-1, "1 done", "leftout:acts:: act 2 of 4 is done in the first shard only", "2"),
        (-1, "2 open", "leftout:acts:: act 2 of 4 is done in the first shard only", "2"),
        (-1, "3 done", "leftout:acts:: act 3 of 4, in the first shard 2", "3"),
        (0, "1 open", "leftout:acts:: act 2 of 4, in the first shard 1", "2"),
        (0, "", "leftout:acts:: act 2 of 4, in the first shard 0", "2"),
    ],
)
def test_a_shard_that_contradicts_the_first_is_found_and_mended(repository, shard, act, problem, ends):
    ids = [post(repository, number + 1) for number in range(8)]
    for article in ids:
        repository.votes.cast(article, MALLORY, Choice.VOTE)
    list(leave_out(repository))
    list(count_again(repository))

    be(repository, repository.store.shards.all[shard], act, is_left_out=act[:1] in ("1", "3"))

    assert any(problem in finding for finding in problems(repository))
    repository.repair.run()
    assert said(repository) == {(f"{ends} done", ends == "3")}
    assert points(repository, ids) == [1 if ends == "3" else 2] * 8
    assert problems(repository) == []


def test_a_member_left_out_without_an_act_is_as_the_first_shard_says(repository, articles):
    first, last = repository.store.shards.all[0], repository.store.shards.all[-1]
    repository.store.client.sadd(first.left_out, MALLORY)
    repository.store.client.sadd(last.left_out, BOB)

    repository.repair.run()

    assert said(repository, MALLORY) == {("1 done", True)}
    assert said(repository, BOB) == {("1 done", True) if first == last else ("2 done", False)}
    assert points(repository, articles) == [1] * 5
    assert problems(repository) == []


def test_the_repair_completes_an_interrupted_act_and_leaves_complete_ones(small_batches, repository, articles):
    list(leave_out(repository, BOB))
    list(count_again(repository, BOB))
    list(islice(leave_out(repository), 1))
    assert problems(repository) == []

    repository.repair.run()

    assert said(repository) == {("1 done", True)}
    assert points(repository, articles) == [1] * 5
    sound = contents(repository)
    left_out.LeftOutUpkeep(repository.store).repair()
    assert contents(repository) == sound


@pytest.mark.parametrize("after", ["HMGET", "SMISMEMBER"])
def test_an_act_between_the_reads_of_two_shards_is_no_finding(repository, articles, after):
    list(leave_out(repository))
    overtaken = []

    class OneByOne(redis.Redis):
        """A client that sends a pipeline command by command and is overtaken once, after the first of these."""

        def pipeline(self, *args, **options):
            pipe = super().pipeline(*args, **options)

            def execute(**_):
                replies = []
                for command, options in pipe.command_stack:
                    replies.append(self.execute_command(*command, **options))
                    if command[0] == after and not overtaken:
                        overtaken.append(True)
                        list(count_again(repository))
                return replies

            pipe.execute = execute
            return pipe

    other = same_store(repository, OneByOne)

    assert list(left_out.LeftOutUpkeep(other.store).check()) == []
    assert overtaken


def test_a_later_act_overtakes_the_repair(repository, articles):
    list(leave_out(repository))
    repository.store.client.srem(repository.store.shards.all[-1].left_out, MALLORY)

    def act_twice():
        list(count_again(repository))
        list(leave_out(repository))

    interleaved(repository, "left_out/repair", act_twice).repair.run()

    assert said(repository) == {("3 done", True)}
    assert problems(repository) == []


@pytest.mark.deep
def test_a_repair_interrupted_anywhere_can_be_repeated(repository, articles):
    list(leave_out(repository))
    last, commands, is_complete = repository.store.shards.all[-1], 0, False
    while not is_complete:
        be(repository, last, "2 done", is_left_out=True)
        other = same_store(repository, BreakingServer)
        other.store.client.left = commands
        try:
            left_out.LeftOutUpkeep(other.store).repair()
            is_complete = True
        except StoreUnavailable:
            repository.repair.run()
        assert said(repository) == {("2 done", False)}
        assert problems(repository) == []
        commands += 1
    assert commands > 5
