"""Probation, vouches, bans, deletion, exclusion by moderators and the end of voting, in any order."""

from collections import Counter
from dataclasses import dataclass, field
from random import Random

import pytest
from django.test import Client

from accounts import account_deletion
from accounts.models import BanScope, User
from articles.domain.articles import Choice, LeftOut
from articles.domain.errors import ActionRefused
from articles.web.votes import begin_probation
from moderation import vouches
from moderation.bans import ban, lift_ban
from moderation.left_out import set_left_out
from tests.ballots.records import record_of
from tests.factories import actor, member, post
from tests.store_state import problems

pytestmark = pytest.mark.deep


@pytest.fixture(autouse=True)
def _on(settings):
    settings.PROBATION, settings.VOUCHES = True, 2


def cast(site_store, article, user, choice=Choice.VOTE):
    begin_probation(user)
    site_store.votes.cast(article, user.pk, choice)


def reasons(article):
    return Counter(ballot.left_out for ballot in record_of(article).ballots)


def test_the_record_says_which_votes_waited_at_the_end(site_store, article, bob, carol, mallory, time_of, close):
    cast(site_store, article, bob)
    cast(site_store, article, mallory)
    set_left_out(mallory, "A ring", actor(carol), left_out=True)

    close()

    record = record_of(article)
    assert record.left_out == LeftOut(2, 0)
    assert reasons(article) == {"": 1, "probation": 1, "moderators": 1}


def test_after_closing_no_vote_waits_any_longer(site_store, article, bob, time_of, close):
    cast(site_store, article, bob)
    assert Client().get(f"/api/articles/{article}/ranking").json()["score"]["waiting"] == 1

    close()

    score = Client().get(f"/api/articles/{article}/ranking").json()["score"]
    assert (score["left_out_votes"], score["waiting"]) == (1, 0)
    page = Client().get(f"/articles/{article}/why/").text
    assert "by members whose votes moderators excluded, or who were new when voting closed" in page


def test_a_member_whose_probation_ended_before_the_record_waited(site_store, article, bob, time_of, let_pass):
    cast(site_store, article, bob)
    time_of.advance(7.01 * 86400)
    site_store.clock.accept()
    list(site_store.left_out.end_probation(bob.pk))

    let_pass(0)

    assert reasons(article) == {"": 1, "probation": 1}


@dataclass
class Expected:
    """What should be known of a member."""

    user: User
    state: str = "new"  # "new", "waits", "counts" or "out"
    is_trusted: bool = False
    ban: object = None
    is_deleted: bool = False
    is_wrong: bool = False
    choices: dict[int, Choice] = field(default_factory=dict)  # on open articles

    @property
    def is_out(self):
        return self.state in ("waits", "out")


class Machine:
    """A site and its model: six newcomers, and three members who vouch and are banned at times."""

    def __init__(self, site_store, carol, close, seed):
        self.store, self.moderator, self.close, self.chance = site_store, actor(carol), close, Random(seed)
        self.newcomers = [Expected(member(f"new{seed}x{number}")) for number in range(6)]
        self.members = [Expected(member(f"old{seed}x{number}")) for number in range(3)]
        for one in self.members:
            one.user.trust()
            one.is_trusted = True
        self.given: list[tuple[Expected, Expected]] = []
        self.articles = [post(site_store, seed * 100 + number) for number in range(2)]
        self.posted = seed * 100 + 2
        self.steps = Counter()

    def fresh(self, one):
        return User.objects.get(pk=one.user.pk)

    def weight(self, by):
        return max(0, 2 - sum(giver is by and one.is_wrong for giver, one in self.given))

    def vote(self):
        one, article = self.chance.choice(self.newcomers), self.chance.choice(self.articles)
        if one.is_deleted or one.ban:
            return
        if one.state == "new" and not one.is_trusted:
            one.state = "waits"
        one.choices[article] = self.chance.choice([Choice.VOTE, Choice.VOTE, Choice.OPPOSE, Choice.NONE])
        cast(self.store, article, self.fresh(one), one.choices[article])

    def vouch(self):
        by, one = self.chance.choice(self.members + self.newcomers[:1]), self.chance.choice(self.newcomers)
        if by.is_deleted or one.is_deleted:
            return
        has_left = sum(giver is by for giver, _ in self.given) < 2
        may = by.is_trusted and not by.ban and by.state != "out" and by is not one and self.weight(by) and has_left
        is_given = (by, one) in self.given
        try:
            vouches.vouch(self.fresh(by), self.fresh(one))
        except ActionRefused:
            assert not is_given
            assert not (may and one.state == "waits" and not one.ban)
        else:
            assert is_given or (may and one.state == "waits" and not one.ban)
            self.given += [] if is_given else [(by, one)]

    def ban_or_lift(self):
        one = self.chance.choice(self.newcomers + self.members)
        if one.is_deleted:
            return
        if one.ban:
            lift_ban(one.ban, "A mistake", self.moderator)
            one.ban, one.is_wrong = None, False
        else:
            one.ban = ban(one.user, BanScope.BOTH, "Spam", days=0, moderator=self.moderator)
            one.is_wrong = True

    def leave_out_or_count(self):
        one = self.chance.choice(self.newcomers)
        if one.is_deleted:
            return
        is_out = one.state != "out"
        set_left_out(one.user, "A ring", self.moderator, left_out=is_out)
        one.state = "out" if is_out else "counts"
        one.is_wrong = is_out or (one.is_wrong and one.ban is not None)

    def delete(self):
        one = self.chance.choice(self.newcomers)
        if not one.is_deleted and self.chance.random() < 0.3:
            account_deletion.begin(one.user.pk)
            account_deletion.advance_all(60)
            one.is_deleted, one.ban = True, None

    def trust(self):
        one = self.chance.choice(self.newcomers)
        if not one.is_deleted and self.chance.random() < 0.5:
            self.fresh(one).trust()
            one.is_trusted = True

    def keep_house(self):
        vouches.end_probations(self.store, 60)
        for one in self.newcomers:
            weight = sum(
                self.weight(by) for by, other in self.given if other is one and not (by.ban or by.is_deleted)
            )
            if one.state != "waits":
                continue
            if one.is_deleted or one.ban:
                one.state = "out"
            elif one.is_trusted or weight >= 2:
                one.state = "counts"

    def end_voting(self):
        expected = {article: self.expected(article) for article in self.articles}
        self.close()
        for article, left_out in expected.items():
            found = reasons(article)
            waiting, out = (
                sum(
                    one.state == state and one.choices.get(article, Choice.NONE) is not Choice.NONE
                    for one in self.newcomers
                )
                for state in ("waits", "out")
            )
            assert (found["probation"], found["moderators"]) == (waiting, out)
            assert self.store.articles.get(article).left_out == record_of(article).left_out == left_out
        for one in self.newcomers:
            one.choices.clear()
        self.articles = [post(self.store, self.posted), post(self.store, self.posted + 1)]
        self.posted += 2

    def expected(self, article):
        out = [one.choices.get(article) for one in self.newcomers if one.is_out]
        return LeftOut(out.count(Choice.VOTE), out.count(Choice.OPPOSE))

    def run(self, steps):
        acts = [self.vote] * 8 + [self.keep_house] * 3 + [self.vouch] * 4
        acts += [self.ban_or_lift, self.leave_out_or_count, self.delete, self.trust]
        for number in range(steps):
            act = self.end_voting if number % 40 == 39 else self.chance.choice(acts)
            act()
            self.steps[act.__name__] += 1
            for article in self.articles:
                assert self.store.articles.get(article).left_out == self.expected(article), act.__name__
            for one in self.newcomers:
                state = self.store.left_out.get_state(one.user.pk)
                assert (state.waits, state.is_left_out) == (one.state == "waits", one.state == "out"), act.__name__
        assert problems(self.store) == []


@pytest.mark.random
@pytest.mark.timeout(120)
@pytest.mark.parametrize("seed", range(1, 3))
def test_acts_in_any_order_leave_the_state_of_the_model(site_store, alice, carol, time_of, close, seed):
    machine = Machine(site_store, carol, close, seed)

    machine.run(160)

    assert machine.given
    assert min(machine.steps.values()) > 2
