"""Moderators merge articles of one story: each member's vote counts once, and an undo leaves no trace.

Random sequences are compared with a model in plain Python, in which the votes on an article are a function of what
members chose and of what is merged.
"""

import os
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count, islice

import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from articles.domain.articles import NONE_LEFT_OUT, Choice, LeftOut
from articles.domain.comments import CommentOrder, root_of
from articles.domain.errors import (
    AccountDeleted,
    ArticleMerged,
    ArticleNotFound,
    ArticleRemoved,
    CommentVotingClosed,
    HasMerges,
    MergesFull,
    NotMerged,
    NotRemoved,
    OwnComment,
    SelfMerge,
    StoreUnavailable,
    VotingClosed,
)
from articles.domain.flags import FlagReason
from articles.domain.moderation_log import Action, Actor
from articles.repository.moderation import merges
from articles.repository.store import keys as names
from tests.cast import ALICE, BOB, CAROL, MALLORY, MODERATOR
from tests.clock import DAY, Clock
from tests.every_server import with_methods_of
from tests.factories import comment_on, imported, post, vote_from
from tests.repository.breaking import BreakingServer
from tests.repository.racing import race
from tests.repository.usage import let_pass, listed
from tests.rules import connect
from tests.store_state import REPOSITORY_DATABASE, contents, new_client, problems

SEED = os.environ.get("FUZZ_SEED")
VOTE, OPPOSE, NONE = Choice.VOTE, Choice.OPPOSE, Choice.NONE
OTHER = Actor(5, "other")


def merge(repository, article, into):
    return sum(repository.merges.merge(article, into, MODERATOR, "The same story"))


def undo(repository, article):
    return sum(repository.merges.undo(article, OTHER, "Another story"))


def drop_voters(repository, clock):
    """Let all articles be closed for so long that their voters are no longer known."""
    let_pass(repository, clock, 20 * DAY)
    repository.clock.drop_voters(60)


@pytest.fixture
def stay(repository, clock):
    """The article that stays: alice posted it, bob opposed it."""
    article = post(repository, 1)
    clock.advance(5)
    repository.votes.cast(article, BOB, OPPOSE)
    return article


@pytest.fixture
def story(repository, clock, stay):
    """A later article of the same story: bob posted it, alice and carol opposed it, mallory voted for it."""
    article = post(repository, 2, ("python",), poster=BOB)
    clock.advance(5)
    for member, choice in ((ALICE, OPPOSE), (CAROL, OPPOSE), (MALLORY, VOTE)):
        repository.votes.cast(article, member, choice)
        clock.advance(5)
    return article


def tally(repository, article):
    found = repository.articles.get(article)
    return found.votes, found.opposes


def choices(repository, article):
    return [repository.articles.get(article, member).choice for member in (ALICE, BOB, CAROL, MALLORY)]


def test_each_member_counts_once_for_the_article_that_stays(repository, stay, story):
    assert merge(repository, story, stay) == 2, "carol and mallory chose on the other one only"

    assert choices(repository, stay) == [VOTE, OPPOSE, OPPOSE, VOTE]
    assert tally(repository, stay) == (2, 2)
    assert tally(repository, story) == (2, 2), "the merged one keeps what it had"
    assert listed(repository) == [stay]
    assert [one.id for one in repository.members.get_voted(MALLORY).articles] == [stay]
    left = repository.articles.get(story)
    assert (left.merged_into, left.removed, left.is_withheld) == (stay, "The same story", False)
    assert merge(repository, story, stay) == 0, "it is idempotent"
    assert problems(repository) == []


def test_an_undo_leaves_no_trace(repository, stay, story):
    repository.flags.set(root_of(story), MALLORY, FlagReason.SPAM)
    vote_from(repository, story, 1, repository.rules.ring_accounts)
    list(repository.left_out.leave_out(CAROL, "carol", OTHER, "A ring"))
    before = contents(repository)

    merge(repository, story, stay)
    assert repository.articles.get(stay).left_out == LeftOut(0, 1), "a left-out choice stays left out"
    assert repository.flags.count() == 0, "its flags wait for the undo"
    undo(repository, story)

    after, theirs = contents(repository), repository.store.shards.of(story)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert changed == {theirs.log, theirs.inbox(BOB), theirs.article(story)}
    assert dict(after[theirs.article(story)], log="") == dict(before[theirs.article(story)], log="")
    last, first = (one for one in repository.moderation_log.get_page().entries if one.article_id == story)
    assert (first.action, first.actor_name, first.details) == (Action.MERGE, MODERATOR.name, {"target": str(stay)})
    assert (last.action, last.actor_name, last.reason) == (Action.UNMERGE, OTHER.name, "Another story")


def test_nothing_is_counted_once_the_voters_are_no_longer_known(repository, clock, stay, story):
    drop_voters(repository, clock)
    fresh = post(repository, 3, poster=CAROL)

    assert merge(repository, story, stay) == merge(repository, fresh, stay) == 0
    undo(repository, fresh)
    assert merge(repository, fresh, stay) == 0

    assert tally(repository, stay) == (1, 1)
    assert problems(repository) == []


def test_an_undo_takes_back_the_numbers_once_the_voters_are_dropped(repository, clock, stay, story):
    list(repository.left_out.leave_out(CAROL, "carol", OTHER, "A ring"))
    before = repository.articles.get(stay)
    merge(repository, story, stay)
    drop_voters(repository, clock)
    assert (tally(repository, stay), repository.articles.get(stay).left_out) == ((2, 2), LeftOut(0, 1))
    repository.repair.run()

    undo(repository, story)

    after = repository.articles.get(stay)
    assert (after.votes, after.opposes, after.left_out, after.score) == (1, 1, NONE_LEFT_OUT, before.score)
    assert tally(repository, story) == (2, 2)
    assert problems(repository) == []


def test_unnamed_voters_of_an_import_stay_with_their_article(repository, clock, stay):
    with repository.imports.lock():
        (article,) = repository.imports.add([imported(1, clock() - 60, poster=MALLORY, votes=5, opposes=3)])

    clock.advance(7)
    repository.votes.cast(article, CAROL, VOTE)
    voted_at = clock()
    clock.advance(7)

    assert merge(repository, article, stay) == 2, "its poster's vote and carol's"
    assert list(repository.members.iterate_choices(CAROL, VOTE)) == [(article, voted_at), (stay, voted_at)]
    assert problems(repository) == []


def test_the_comments_of_a_merged_article_can_be_voted_on_and_take_no_replies(repository, stay, story):
    comment, own = comment_on(repository, story, "First", ALICE), comment_on(repository, stay, "Here")
    merge(repository, story, stay)

    repository.comments.cast(comment, CAROL, VOTE)
    repository.flags.set(comment, MALLORY, FlagReason.SPAM)
    for refused in (
        lambda: comment_on(repository, story, "Late"),
        lambda: comment_on(repository, story, "Late", parent=comment),
        lambda: repository.comments.edit(comment, ALICE, "Changed"),
        lambda: repository.flags.set(root_of(story), MALLORY, FlagReason.SPAM),
        lambda: repository.votes.cast(story, CAROL, VOTE),
        lambda: repository.articles.remove(story, MODERATOR, "Spam"),
        lambda: repository.articles.restore(story, MODERATOR, "No spam"),
        lambda: repository.articles.withdraw(story, Actor(BOB, "bob")),
        lambda: repository.explanations.get(repository.articles.get(story)),
    ):
        with pytest.raises(ArticleMerged):
            refused()

    article = repository.articles.get(stay)
    ((merged, thread),) = repository.merges.list_merged(article, CommentOrder.BEST, CAROL)
    found = (merged.id, [(one.id, one.votes, one.choice) for one in thread.comments])
    assert found == (story, [(comment, 1, VOTE)])
    shown, _, token, _ = repository.comments.get_article(stay, CommentOrder.BEST)
    assert (shown.comments, token(), own) == (1, "", shown.id * 10**6 + 1), "its page is not shared"
    repository.comments.remove(comment, MODERATOR, "Spam")
    repository.comments.restore(comment, MODERATOR, "No spam")
    repository.comments.delete(comment, ALICE)
    assert problems(repository) == []


def test_what_cannot_be_merged_is_refused_and_changes_nothing(repository, monkeypatch, stay, story):
    third, removed = post(repository, 3), post(repository, 4)
    repository.articles.remove(removed, MODERATOR, "Spam")
    merge(repository, story, stay)
    before = contents(repository)

    for article, into, error in (
        (stay, stay, SelfMerge), (99, stay, ArticleNotFound), (third, 99, ArticleNotFound),
        (removed, third, ArticleRemoved), (third, removed, ArticleRemoved), (third, story, ArticleMerged),
        (story, third, ArticleMerged), (stay, third, HasMerges),
    ):  # fmt: skip
        with pytest.raises(error):
            merge(repository, article, into)
    for article, error in ((third, NotMerged), (removed, NotMerged), (99, NotMerged)):
        with pytest.raises(error):
            undo(repository, article)
    monkeypatch.setattr(merges, "MOST_MERGED", 1)
    with pytest.raises(MergesFull):
        merge(repository, third, stay)

    key, after = repository.store.shards.of(stay).article(stay), contents(repository)
    assert dict(after.pop(key), merge_number="") == dict(before.pop(key), merge_number="")
    assert after == before


@pytest.mark.deep
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda client, stay, story: client.hdel(stay.article(1), "merges"), "does not list it"),
        (lambda client, stay, story: client.hset(stay.article(1), "merges", "2 1 done,x"), "in another form"),
        (lambda client, stay, story: client.hset(stay.article(1), "merges", "2 1 done,7 2 done"), "lists 7"),
        (lambda client, stay, story: client.hset(stay.article(1), "merges", "2 1 open"), "but not listed"),
        (lambda client, stay, story: client.zadd(stay.merging, {"1": 5}), "listed as being merged"),
        (
            lambda client, stay, story: client.hdel(stay.article(1), "merge_number"),
            "the number of the last merge is lost",
        ),
        (lambda client, stay, story: client.hdel(story.article(2), "merged"), "lists 2, which is not merged"),
        (lambda client, stay, story: client.hdel(story.article(2), "removed"), "merged into 1, but listed"),
        (lambda client, stay, story: client.zadd(stay.brought(1), {"77": 2}), "the vote of 77 came with 2"),
        (lambda client, stay, story: client.zadd(stay.brought(1), {str(MALLORY): 9}), "the vote of 4 came with 9"),
        (lambda client, stay, story: client.zadd(stay.merging, {"999": 5}), "no such article"),
        (lambda client, stay, story: client.delete(stay.article(1)), "does not list it"),
    ],
)
def test_a_damaged_merge_is_reported_and_repaired(repository, stay, story, damage, said):
    merge(repository, story, stay)
    of = repository.store.shards.of

    damage(repository.store.client, of(stay), of(story))
    found = problems(repository)
    repository.repair.run()

    assert any(said in one for one in found), found
    assert problems(repository) == []


def test_votes_during_a_merge_count_as_they_are_cast(monkeypatch, repository, stay, story):
    monkeypatch.setattr(merges, "VOTERS_PER_STEP", 1)
    members = range(100, 112)
    for member in members:
        repository.votes.cast(story, member, VOTE)
    votes = [partial(repository.votes.cast, stay, member, OPPOSE) for member in members[::2]]

    race(repository, [partial(merge, repository, story, stay), partial(merge, repository, story, stay), *votes])

    assert [repository.articles.get(stay, member).choice for member in members] == [OPPOSE, VOTE] * 6
    assert problems(repository) == []
    race(repository, [partial(undo, repository, story), partial(undo, repository, story)])
    assert tally(repository, stay) == (1, 7)
    assert len(repository.moderation_log.get_for_article(story).entries) == 2
    assert problems(repository) == []


@pytest.mark.deep
@pytest.mark.parametrize("act", [merge, undo])
def test_an_act_that_is_broken_off_anywhere_is_finished(monkeypatch, repository, stay, story, act):
    monkeypatch.setattr(merges, "VOTERS_PER_STEP", 1)
    third = post(repository, 3)
    repository.votes.cast(third, CAROL, VOTE)
    merge(repository, third, stay)
    if act is undo:
        merge(repository, story, stay)
    before = tally(repository, stay)
    for commands in count():
        other = connect(
            with_methods_of(BreakingServer, repository.store.client), shards=4, clock=repository.store.now
        )
        other.store.client.left = commands
        try:
            act(other, story) if act is undo else act(other, story, stay)
            break
        except StoreUnavailable:
            assert problems(repository) == []
        repository.store.client.delete(names.MERGE_LOCK)
        list(repository.merges.finish())
        assert repository.store.client.zcard(repository.store.shards.of(stay).merging) == 0
        is_merged = repository.articles.get(story).merged_into == stay
        assert (tally(repository, stay) == before) is (is_merged is (act is undo))
        assert problems(repository) == []
        if is_merged is (act is merge):  # it was made: again from the start
            (undo(repository, story) if act is merge else merge(repository, story, stay))
        assert tally(repository, stay) == before
    assert commands > 8


MEMBERS = st.integers(10, 12)
PLACES = st.integers(0, 3)


@dataclass
class Place:
    """An article of the model: what members chose there, each with the number of its last merge then."""

    closes: float
    own: dict[int, tuple[Choice, int]] = field(default_factory=dict)
    merged: dict[int, int] = field(default_factory=dict)
    """What is merged into it, in this order, each with the number of the merge."""

    into: int | None = None
    removed: bool = False
    last_merge: int = 0
    is_settled: bool = True
    comments: list[int] = field(default_factory=list)


class Machine(RuleBasedStateMachine):
    """Random acts of members and moderators, with the model beside."""

    repository: object
    clock: Clock

    def __init__(self, make):
        super().__init__()
        self.clock = Clock()
        self.repository = make(self.clock)
        self.places: dict[int, Place] = {}
        self.gone: set[int] = set()
        self.out: set[int] = set()
        self.advanced = 0.0
        for number in range(4):
            article = post(self.repository, number + 1, poster=ALICE)
            own = {ALICE: (VOTE, 0)}
            self.places[article] = Place(self.repository.articles.get(article).closes_at, own)
            self.clock.advance(1)

    def nth(self, number: int) -> int:
        return sorted(self.places)[number]

    def chosen(self, article: int, member: int) -> Choice:
        """Return what counts for the member on an article."""
        place = self.places[article]
        choice, since = place.own.get(member, (NONE, -1))
        if choice is NONE:
            found = (self.chosen(other, member) for other, number in place.merged.items() if number > since)
            choice = next((one for one in found if one is not NONE), NONE)
        return choice

    def outcome(self, act, *errors):
        """Do something that is refused with one of the errors, if there are any."""
        with pytest.raises(errors) if errors else nullcontext():
            act()
        return not errors

    @initialize(choices=st.lists(st.sampled_from(Choice), min_size=12, max_size=12))
    def begin(self, choices):
        for at, choice in enumerate(choices):
            self.vote_once(at // 3, 10 + at % 3, choice)

    @rule(votes=st.lists(st.tuples(PLACES, MEMBERS, st.sampled_from(Choice)), min_size=1, max_size=6))
    def vote(self, votes):
        for place, member, choice in votes:
            self.vote_once(place, member, choice)

    def vote_once(self, place, member, choice):
        article, model = self.nth(place), self.places[self.nth(place)]
        if model.removed or model.into:
            refusals = [ArticleMerged if model.into else ArticleRemoved]
        else:
            refusals = [AccountDeleted] * (member in self.gone) or [VotingClosed] * (self.clock() > model.closes)
        if self.outcome(lambda: self.repository.votes.cast(article, member, choice), *refusals):
            model.own[member] = choice, model.last_merge

    @rule(place=PLACES, other=st.sampled_from([0, 0, 0, 1]), steps=st.sampled_from([0, 0, 1, 2, 99]))
    def merge(self, place, other, steps):
        article, into = self.nth(place), self.nth(other)
        model, target = self.places[article], self.places[into]
        refusals = [
            *[SelfMerge] * (article == into),
            *[ArticleMerged] * (model.into not in (None, into) or target.into is not None),
            *[ArticleRemoved] * (model.removed or (target.removed and article not in target.merged)),
            *[HasMerges] * bool(model.merged),
        ]
        work = self.repository.merges.merge(article, into, MODERATOR, "The same")
        self.settle(target)
        is_done = self.outcome(lambda: list(islice(work, steps or None)), *refusals)
        work.close()
        if is_done and model.into is None:
            model.into = into
            target.last_merge += 1
            target.merged[article] = target.last_merge
            target.is_settled = steps in (0, 99)
        elif (
            not is_done
            and article != into
            and article not in target.merged
            and not (target.removed or target.into)
        ):
            target.last_merge += bool(target.merged)

    @rule(place=PLACES, steps=st.sampled_from([0, 1, 2, 99]))
    def undo(self, place, steps):
        article, model = self.nth(place), self.places[self.nth(place)]
        work = self.repository.merges.undo(article, OTHER, "Another")
        if self.outcome(lambda: list(islice(work, steps or None)), *[NotMerged] * (model.into is None)):
            target = self.places[model.into]
            del target.merged[article]
            model.into, target.is_settled = None, steps in (0, 99)
            if target.is_settled and not target.merged:
                self.forget(target)
        work.close()

    def forget(self, target):
        """With the last merge, what members took back is of no account any more."""
        target.last_merge = 0
        target.own = {member: (choice, -1 if choice is NONE else 0) for member, (choice, _) in target.own.items()}

    @rule()
    def finish(self):
        list(self.repository.merges.finish())
        for place in self.places.values():
            self.settle(place)

    def settle(self, place):
        if not place.is_settled and not place.merged:
            self.forget(place)
        place.is_settled = True

    @rule(member=MEMBERS, place=PLACES, choice=st.sampled_from(Choice), flag=st.booleans(), act=st.integers(0, 9))
    def do_else(self, member, place, choice, flag, act):
        """Do something that happens less often."""
        if act < 2:
            self.remove(0 if flag else place, is_back=choice is VOTE)
        elif act < 4:
            self.comment(place, member)
        elif act < 6:
            self.vote_on_a_comment(place, member, choice)
        elif act < 8:
            self.leave_out(member, is_out=flag)
        elif act == 8:
            self.wait(3.5 if choice is VOTE else 0.2)
        elif flag:
            self.delete_account(member)

    def remove(self, place, is_back):
        article, model = self.nth(place), self.places[self.nth(place)]
        act = self.repository.articles.restore if is_back else self.repository.articles.remove
        refusals = [ArticleMerged] * bool(model.into) or [NotRemoved if is_back else ArticleRemoved] * (
            model.removed is not is_back
        )
        if self.outcome(lambda: act(article, OTHER, "Why"), *refusals):
            model.removed = not is_back

    def comment(self, place, member):
        article, model = self.nth(place), self.places[self.nth(place)]
        refusals = [ArticleMerged] * bool(model.into) or [ArticleRemoved] * model.removed
        refusals = refusals or [AccountDeleted] * (member in self.gone)
        if self.outcome(lambda: comment_on(self.repository, article, f"{self.clock()}", member), *refusals):
            model.comments.append(article * 10**6 + len(model.comments) + 1)

    def vote_on_a_comment(self, place, member, choice):
        model = self.places[self.nth(place)]
        if model.comments and not model.removed and member not in self.gone:
            with suppress(OwnComment, CommentVotingClosed):
                self.repository.comments.cast(model.comments[0], member, choice)

    def leave_out(self, member, is_out):
        act = self.repository.left_out.leave_out if is_out else self.repository.left_out.count_again
        if member in self.gone:
            return
        list(act(member, f"user{member}", OTHER, "A ring"))

    def delete_account(self, member):
        if len(self.gone) < 1:
            self.repository.account_deletion.advance(member, f"user{member}", "", lambda: True)
            self.gone.add(member)

    def wait(self, days):
        if self.advanced + days < 8:  # the voters of all are known
            self.advanced += days
            let_pass(self.repository, self.clock, days * DAY)
            self.repository.clock.drop_voters(60)

    @invariant()
    def is_the_models(self):
        assert problems(self.repository) == []
        everyone = [ALICE, *range(10, 13)]
        assert sorted(listed(self.repository)) == [
            one for one, place in self.places.items() if not place.removed and not place.into
        ]
        for article, place in self.places.items():
            found = self.repository.articles.get(article)
            told = (found.merged_into, found.removed is not None)
            assert told == (place.into, place.removed or bool(place.into))
            if not place.is_settled:
                continue
            assert list(found.merged) == list(place.merged)
            chosen = [self.chosen(article, member) for member in everyone]
            assert (found.votes, found.opposes) == (chosen.count(VOTE), chosen.count(OPPOSE)), (article, place)
            assert [self.repository.articles.get(article, member).choice for member in everyone] == chosen

    def teardown(self):
        """Undo everything: every article is as if nothing had ever been merged."""
        for article, place in self.places.items():
            if place.into:
                undo(self.repository, article)
        list(self.repository.merges.finish())
        assert problems(self.repository) == []
        for article, place in self.places.items():
            own = [choice for choice, _ in place.own.values()]
            assert tally(self.repository, article) == (own.count(VOTE), own.count(OPPOSE))
        left = {name.split("}:")[-1].split(":")[0] for name in contents(self.repository)}
        assert not left & {"brought", "merging"}


@pytest.mark.deep
@pytest.mark.random
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("shards", "examples"), [(1, 2), (4, 3)])
def test_acts_in_any_order_leave_the_votes_of_the_model(store_paths, monkeypatch, shards, examples):
    monkeypatch.setattr(merges, "VOTERS_PER_STEP", 1)
    client = new_client(store_paths.url(REPOSITORY_DATABASE))

    def make(clock):
        client.flushdb()
        repository = connect(client, shards=shards, clock=clock)
        repository.prepare()
        return repository

    run_state_machine_as_test(
        lambda: Machine(make),
        settings=settings(
            max_examples=examples * (20 if SEED else 1),
            stateful_step_count=40,
            suppress_health_check=list(HealthCheck),
        ),
    )
