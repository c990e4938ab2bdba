"""Who makes new members trusted: three unrelated members, and never the accounts of one person."""

from datetime import timedelta
from itertools import pairwise
from random import Random

import pytest
from django.utils import timezone

from accounts.models import User, Vouch, origins_of
from articles.domain.articles import Choice
from articles.domain.comments import root_of
from articles.domain.errors import ActionRefused
from articles.domain.flags import FlagReason
from articles.web import wiring
from articles.web.identity import is_trusted, points_that_count
from articles.web.votes import begin_probation
from moderation import vouches
from moderation.flags import set_flag
from moderation.left_out import set_left_out
from tests.factories import actor, member, post, vote_by_trusted
from tests.pages.invited import grow

pytestmark = pytest.mark.django_db


def fresh(user: User) -> User:
    return User.objects.get(pk=user.pk)


def old(name: str) -> User:
    """Return an account that is old enough."""
    return member(name, date_joined=timezone.now() - timedelta(days=30))


def trusted(name: str) -> User:
    user = old(name)
    user.trust()
    return user


def cast(repository, article: int, *voters: User) -> None:
    for voter in voters:
        begin_probation(fresh(voter))
        repository.votes.cast(article, voter.pk, Choice.VOTE)


RELATIONS = {
    "invited by one": "top b1, top b2, top b3, top b4, top b0",
    "each by the one before": "b0 b1, b1 b2, b2 b3, b3 b4",
    "through accounts between": "top x1, top x2, x1 b0, x1 b1, x2 x3, x3 b2, top b3, b0 b4",
}
"""Who brought in whom."""


class Ring:
    """Bought accounts of one root, and fresh ones that they help, by random acts."""

    def __init__(self, repository, relation, chance, *, by_vouches):
        self.repository, self.chance, self.number = repository, chance, 0
        names = [f"b{number}" for number in range(5)]
        edges = [(one, other) for one, other in map(str.split, RELATIONS[relation].split(", "))]
        self.bought = [trusted(name) for name in names]
        if by_vouches:
            known = {name: old(name) for name in {one for edge in edges for one in edge} - {*names}}
            known |= dict(zip(names, self.bought, strict=True))
            Vouch.objects.bulk_create(Vouch(by=known[one], member=known[other]) for one, other in edges)
        else:
            grow(*edges)
        self.socks = [old(f"sock{number}") for number in range(6)]
        self.articles = dict[int, list[int]]()

    def post(self):
        sock = self.chance.choice(self.socks)
        begin_probation(fresh(sock))
        self.number += 1
        article = post(self.repository, self.number, poster=sock.pk)
        self.articles.setdefault(sock.pk, []).append(article)

    def vote(self):
        everyone = [*self.bought, *self.socks]
        for articles in self.articles.values():
            cast(self.repository, self.chance.choice(articles), *self.chance.sample(everyone, 6))

    def vouch(self):
        by, sock = fresh(self.chance.choice([*self.bought, *self.socks])), fresh(self.chance.choice(self.socks))
        try:
            vouches.vouch(by, sock)
        except ActionRefused:
            return

    def keep_house(self):
        vouches.end_probations(self.repository, 60)

    def invite(self):
        """Let a sock bring in another one; an account is invited once."""
        one, other = self.chance.sample(self.socks, 2)
        if one.pk < other.pk and not hasattr(fresh(other), "invitation"):
            grow((one.username, other.username))


@pytest.mark.deep
@pytest.mark.random
@pytest.mark.parametrize("by_vouches", [False, True])
@pytest.mark.parametrize("relation", RELATIONS)
def test_bought_accounts_of_one_root_make_no_other_account_trusted(site_store, settings, relation, by_vouches):
    probation = by_vouches or relation != "invited by one"
    settings.PROBATION, settings.VOUCHES = probation, 3
    ring = Ring(site_store, relation, Random(f"{relation} {by_vouches}"), by_vouches=by_vouches)
    acts = [ring.post] * 2 + [ring.vote] * 3 + [ring.keep_house] + ([ring.vouch] * 2 if probation else [])
    if not by_vouches:
        acts.append(ring.invite)

    for number in range(40):
        ring.chance.choice(acts)()
        if number % 10 == 9:
            assert not any(is_trusted(fresh(sock)) for sock in ring.socks)

    points = {sock.pk: site_store.members.get_points(sock.pk, ranked=True) for sock in ring.socks}
    helped = fresh(max(ring.socks, key=lambda sock: points[sock.pk]))
    assert points[helped.pk] > 5
    article = ring.articles[helped.pk][0]
    for name in ("c1", "c2"):
        cast(site_store, article, trusted(name))
    assert is_trusted(helped), "with two more, who are unrelated"


def given_by(repository, bob, *backers: User) -> bool:
    """Let five of bob's articles have a point each of these members; return whether he is trusted."""
    User.objects.filter(pk=bob.pk).update(date_joined=timezone.now() - timedelta(days=30))
    for number in range(5):
        cast(repository, post(repository, 100 + number, poster=bob.pk), *backers)
    return is_trusted(fresh(bob))


def test_three_unrelated_members_make_another_one_trusted(site_store, bob):
    assert given_by(site_store, bob, *map(trusted, ("one", "two", "three")))


def test_a_point_of_a_moderator_stands_for_three_members(site_store, bob, carol):
    assert given_by(site_store, bob, carol)


def test_members_whom_a_moderator_invited_are_related_and_those_whom_they_invited_are_not(site_store, bob, carol):
    near, far = ([f"{name}{number}" for number in range(3)] for name in ("near", "far"))
    backers = {name: trusted(name) for name in (*near, *far)}
    grow(*(("carol", one) for one in near), *zip(near, far, strict=True))

    assert not given_by(site_store, bob, *(backers[one] for one in near))
    assert given_by(site_store, bob, *(backers[one] for one in far))


def test_points_of_new_banned_excluded_and_deleted_members_do_not_count(site_store, bob, carol):
    backers = [trusted(name) for name in ("one", "two", "three")]
    cast(site_store, post(site_store, 7, poster=bob.pk), *backers, *map(old, ("four", "five")))
    assert points_that_count(bob) == 3

    User.objects.filter(pk=backers[0].pk).update(banned_from="voting")
    assert points_that_count(bob) == 0
    User.objects.filter(pk=backers[0].pk).update(banned_from="", is_active=False)
    assert points_that_count(bob) == 0
    User.objects.filter(pk=backers[0].pk).update(is_active=True)
    assert points_that_count(bob) == 3
    set_left_out(backers[1], "A ring", actor(carol), left_out=True)
    assert points_that_count(bob) == 0


def test_of_very_many_votes_a_bounded_number_is_read(site_store, bob, monkeypatch):
    monkeypatch.setattr("articles.repository.members._MOST_VOTES_READ", 4)
    articles = [post(site_store, number, poster=bob.pk) for number in (1, 2)]
    for article in articles:
        vote_by_trusted(site_store, article, 9)

    assert sum(site_store.members.count_votes_by(bob.pk).values()) <= 4


def test_a_chain_that_is_longer_than_is_looked_at_is_of_one_root(site_store):
    names = [f"link{number}" for number in range(80)]
    grow(*pairwise(names))
    ids = dict(User.objects.filter(username__in=names).values_list("username", "pk"))

    found = origins_of([ids["link30"], ids["link60"], ids["link79"], ids["link2"]])

    assert found[ids["link30"]] & found[ids["link60"]] & found[ids["link79"]]
    assert found[ids["link2"]] == {ids[f"link{number}"] for number in range(3)}


def test_flags_of_new_members_remove_nothing_however_many(site_store, settings, article, rf):
    settings.FLAGS_TO_REMOVE = 2
    wiring.forget_repositories()

    def flag(*members: User) -> None:
        for one in members:
            request = rf.post("/")
            request.user = fresh(one)
            set_flag(request, root_of(article), FlagReason.SPAM, "")

    flag(*(old(f"sock{number}") for number in range(5)))
    assert site_store.articles.get(article).removed is None
    assert len(site_store.flags.get_page().entries[0].flags) == 5
    flag(trusted("one"), trusted("two"))
    assert site_store.articles.get(article).removed is not None
