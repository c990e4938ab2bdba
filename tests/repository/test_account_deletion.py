"""Account deletion removes the member's name and keeps articles and votes, even when it is interrupted."""

import os
from contextlib import suppress

import pytest

from articles.domain.articles import Choice
from articles.domain.comments import CommentOrder, ThreadPart
from articles.domain.errors import AccountDeleted, StoreUnavailable
from articles.domain.lists import Order
from articles.domain.members import DELETED_MEMBER, DELETED_NAME
from articles.domain.ranking import Parameters
from articles.repository import Repository
from articles.repository.store import schema
from tests.cast import ALICE, BOB, MODERATOR
from tests.clock import Clock
from tests.every_server import with_methods_of
from tests.factories import comment_on, link, post
from tests.repository.breaking import BreakingServer
from tests.repository.racing import race
from tests.repository.usage import finish_tuning, listed, use
from tests.rules import connect
from tests.store_state import contents, problems

CAROL = MODERATOR.id


def always() -> bool:
    return True


def never() -> bool:
    return False


def leave(repository: Repository, user: int, name: str, *, is_last: bool = True) -> None:
    """Take both passes: the one that removes the name, and by default the last one."""
    assert repository.account_deletion.advance(user, name, "", always) == ""
    if is_last:
        forget(repository, user)


def forget(repository: Repository, user: int) -> None:
    assert repository.account_deletion.advance(user, f"~{user}", "", always, is_last=True) == ""


@pytest.fixture
def used(repository, clock) -> Repository:
    use(repository, clock)
    repository.members.save(ALICE, 4, wanted=True)
    return repository


def test_articles_keep_their_votes_and_lose_the_members_name(used):
    before = used.articles.get_many(range(1, 13))
    mine = {article.id for article in before if article.poster == ALICE}
    lists = [listed(used, order) for order in Order]

    leave(used, ALICE, "user1")

    after = used.articles.get_many(range(1, 13))
    assert mine
    assert {a.id for a in after if a.by_deleted_member} == mine
    assert {a.poster_name for a in after if a.id in mine} == {""}
    assert [(a.title, a.votes, a.opposes, a.removed) for a in after] == [
        (a.title, a.votes, a.opposes, a.removed) for a in before
    ]
    assert [listed(used, order) for order in Order] == lists
    assert problems(used) == []


def test_only_the_voter_sets_still_hold_the_member(used):
    leave(used, ALICE, "user1")

    left = contents(used)
    assert not [
        n for n in left if n.rpartition("}:")[2] in ("votes:1", "opposes:1", "posted:1", "saved:1", "commented:1")
    ]
    assert "user1" not in [value for hash_ in left.values() if isinstance(hash_, dict) for value in hash_.values()]
    used.repair.run()
    assert problems(used) == []
    assert contents(used).keys() >= {n for n in left if "posted:" in n}
    assert "posted:1" not in contents(used)


def test_a_deleted_member_can_neither_vote_nor_post(used):
    leave(used, BOB, "user2")
    before = used.articles.get(4)

    with pytest.raises(AccountDeleted):
        used.votes.cast(4, BOB, Choice.OPPOSE)
    with pytest.raises(AccountDeleted):
        used.articles.post(BOB, "user2", "Late", link(4711))

    assert used.articles.get(4) == before
    assert problems(used) == []
    assert used.articles.post(ALICE, "user1", "Mine", link(4711)).is_new  # the link is available to others
    assert problems(used) == []


def test_the_moderation_log_keeps_the_actions_without_the_members_name(used):
    before = used.moderation_log.get_page().entries
    others = [entry for entry in before if entry.actor_name != "carol"]

    leave(used, CAROL, "carol")

    after = used.moderation_log.get_page().entries
    assert {entry.actor_name for entry in after} == {DELETED_NAME, *(entry.actor_name for entry in others)}
    assert [(e.action, e.at, e.article_id, e.title, e.reason, e.details) for e in after] == [
        (e.action, e.at, e.article_id, e.title, e.reason, e.details) for e in before
    ]
    assert "carol" not in {entry.actor_name for entry in used.parameters.list_changes()}
    assert problems(used) == []


def test_a_parameter_change_in_progress_is_logged_without_the_members_name(small_batches, used):
    used.parameters.apply(
        Parameters(votes_per_day=20),
        expected=used.parameters.get_state().version,
        actor=MODERATOR,
        reason="Why not",
    )
    assert used.parameters.get_state().applying

    leave(used, CAROL, "carol")
    finish_tuning(used)

    assert used.moderation_log.get_page().entries[0].actor_name == DELETED_NAME
    assert problems(used) == []


def refill(repository: Repository, clock: Clock) -> None:
    """Fill an emptied store with the same data at the same times."""
    repository.store.client.flushdb()
    clock.now = Clock().now
    schema.stamp(repository.store)
    use(repository, clock)
    repository.members.save(CAROL, 4, wanted=True)
    for number in (900, 901):
        comment_on(repository, post(repository, number, poster=CAROL), "Mine", CAROL)
        comment_on(repository, 7, str(number), CAROL)
    repository.votes.cast(7, CAROL, Choice.OPPOSE)


def all_but_chance(repository: Repository) -> dict[str, object]:
    return {name: value for name, value in contents(repository).items() if not name.startswith("salt:")}


def the_end(repository: Repository, clock: Clock) -> dict[str, object]:
    """Return what the store holds after an uninterrupted account deletion."""
    refill(repository, clock)
    leave(repository, CAROL, "user3")
    leave(repository, CAROL, "carol")
    return all_but_chance(repository)


@pytest.mark.random
@pytest.mark.parametrize("small_batches", [2], indirect=True)
@pytest.mark.hostile
def test_an_account_deletion_interrupted_anywhere_reaches_the_same_end(small_batches, repository, clock):
    end, sound = the_end(repository, clock), False
    assert problems(repository) == []
    stride = max(1, repository.store.shards.count // 4)  # with more shards, each takes the same steps
    stride *= 1 if os.environ.get("FUZZ_SEED") else 4  # a quick run breaks off at every fourth command
    commands = 0
    while not sound:
        refill(repository, clock)
        client = with_methods_of(BreakingServer, repository.store.client)
        other = connect(client, shards=repository.store.shards.count, clock=clock)
        client.left = commands
        try:
            leave(other, CAROL, "user3")
            sound = True
        except StoreUnavailable:
            pass
        # The audit may still report articles of the member, and nothing else.
        assert all("account is deleted" in problem for problem in problems(repository))

        leave(repository, CAROL, "user3")
        leave(repository, CAROL, "carol")

        assert all_but_chance(repository) == end
        commands += stride
    assert commands > 10


def test_votes_and_posts_during_account_deletion_are_complete_or_refused(repository):
    articles = [post(repository, number, poster=user) for number, user in enumerate((ALICE, BOB, BOB))]
    outcomes: list[str] = []

    def vote() -> None:
        for turn in range(300):
            try:
                repository.votes.cast(articles[turn % 3], BOB, list(Choice)[turn % 3])
                outcomes.append("cast")
            except AccountDeleted:
                outcomes.append("gone")

    def publish() -> None:
        for turn in range(60):
            with suppress(AccountDeleted):
                post(repository, 100 + turn, poster=BOB)
            with suppress(AccountDeleted):
                comment_on(repository, articles[0], str(turn))

    race(repository, [vote, vote, publish, publish, lambda: (leave(repository, BOB, "user2"), None)[1]])
    leave(repository, BOB, "user2")  # as housekeeping does, for posts in progress

    assert "gone" in outcomes
    assert problems(repository) == []
    assert not [a for a in repository.imports.iterate() if a.poster == BOB or a.poster_name == "user2"]
    thread = repository.comments.get_thread(articles[0], CommentOrder.OLDEST, part=ThreadPart(size=1000))
    assert all(comment.by_deleted_member for comment in thread.comments)
    assert not {"posted:2", "saved:2", "commented:2"} & contents(repository).keys()
    repository.repair.run()
    assert problems(repository) == []
    assert (repository.members.get_voted(BOB).articles, repository.members.get_opposed(BOB).articles) == ((), ())


def test_an_article_removed_or_restored_during_account_deletion_is_not_skipped(small_batches, repository, clock):
    articles = []
    for number in range(24):
        clock.advance(1)
        articles.append(post(repository, number, poster=BOB))
    for article in articles[::2]:
        repository.articles.remove(article, MODERATOR, "Spam")

    progress, turn = repository.account_deletion.advance(BOB, "user2", "", never), 0
    while progress.startswith("articles"):
        for article in articles[turn % 24], articles[turn % 23]:
            is_listed = repository.articles.get(article).removed is None
            change = repository.articles.remove if is_listed else repository.articles.restore
            change(article, MODERATOR, "Why not")
        progress, turn = repository.account_deletion.advance(BOB, "user2", progress, never), turn + 1

    assert turn >= 6
    assert all(a.by_deleted_member for a in repository.articles.get_many(articles))
    assert problems(repository) == []


def test_comments_keep_their_text_and_lose_the_members_name(used):
    before = used.comments.get_thread(7, CommentOrder.OLDEST).comments

    leave(used, ALICE, "user1")

    after = used.comments.get_thread(7, CommentOrder.OLDEST).comments
    mine = [comment.id for comment in before if comment.author == ALICE]
    assert [comment.id for comment in after if comment.by_deleted_member] == mine != []
    assert {comment.author_name for comment in after if comment.id in mine} == {""}
    assert [(c.id, c.text, c.votes, c.opposes, c.choice) for c in after] == [
        (c.id, c.text, c.votes, c.opposes, c.choice) for c in before
    ]
    assert list(used.comments.list_by(ALICE)) == []
    for change in (
        lambda: comment_on(used, 7, "Late", ALICE),
        lambda: used.comments.cast(before[1].id, ALICE, Choice.VOTE),
        lambda: used.comments.edit(before[0].id, ALICE, "Late"),
        lambda: used.comments.delete(before[0].id, ALICE),
    ):
        with pytest.raises(AccountDeleted):
            change()
    assert problems(used) == []


def test_until_the_last_pass_the_store_knows_what_a_deleted_account_posted(used):
    posted = [article_id for article_id, _ in used.members.iterate_posted(ALICE)]
    written = [comment.id for comment in used.comments.list_by(ALICE)]

    leave(used, ALICE, "user1", is_last=False)

    assert posted == [article_id for article_id, _ in used.members.iterate_posted(ALICE)] != []
    assert written == [comment.id for comment in used.comments.list_by(ALICE)] != []
    articles, comments = used.articles.get_many(posted), used.comments.list_by(ALICE)
    shown = [(one.poster, one.poster_name, one.by_deleted_member, one.former) for one in articles]
    shown += [(one.author, one.author_name, one.by_deleted_member, one.former) for one in comments]
    assert set(shown) == {(DELETED_MEMBER, "", True, ALICE)}
    hashes = [value for value in contents(used).values() if isinstance(value, dict)]
    assert "user1" not in {value for fields in hashes for value in fields.values()}
    assert problems(used) == []
    used.repair.run()
    assert problems(used) == []
    assert {one.former for one in used.articles.get_many(posted)} == {ALICE}
    assert written == [comment.id for comment in used.comments.list_by(ALICE)]

    forget(used, ALICE)

    assert {one.former for one in used.articles.get_many(posted)} == {None}
    assert not {"posted:1", "commented:1"} & {name.rpartition("}:")[2] for name in contents(used)}
    assert problems(used) == []


@pytest.mark.parametrize("is_last", [False, True])
def test_both_passes_may_be_repeated_and_interrupted(small_batches, repository, clock, is_last):
    def at_the_end() -> dict[str, object]:
        leave(repository, CAROL, "user3", is_last=is_last)
        leave(repository, CAROL, "carol", is_last=is_last)
        return all_but_chance(repository)

    refill(repository, clock)
    end = at_the_end()
    refill(repository, clock)
    for last in (False, True)[: 1 + is_last]:
        progress, turn = "", 0
        while turn == 0 or progress:
            before = progress
            progress = repository.account_deletion.advance(CAROL, "carol", before, never, is_last=last)
            repository.account_deletion.advance(CAROL, "carol", before, never, is_last=last)  # by two processes
            turn += 1
    assert at_the_end() == end


def test_moderators_sweep_what_a_deleted_account_posted_and_restore_it(used):
    leave(used, ALICE, "user1", is_last=False)
    removed = sum(used.sweeps.remove(ALICE, 0, "7", MODERATOR, "Spam"))

    articles = used.articles.get_many(a for a, _ in used.members.iterate_posted(ALICE))
    assert removed > 2
    assert all(one.removed for one in [*articles, *used.comments.list_by(ALICE)])
    assert sum(used.sweeps.restore(ALICE, 0, "7", MODERATOR, "A mistake")) == removed
    assert problems(used) == []
