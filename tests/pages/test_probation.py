"""Votes of new members that wait: who is on probation, what pages say, and what ends it."""

import re
from datetime import timedelta
from html import unescape
from itertools import count

import pytest
from django.test import Client
from django.utils import timezone

from accounts import account_deletion
from accounts.models import BanScope, User, Vouch
from articles import housekeeping
from articles.domain.articles import Choice, LeftOut
from articles.domain.moderation_log import Action
from moderation.bans import ban, lift_ban
from moderation.left_out import set_left_out
from tests.factories import actor, browser_of, comment_on, member, post, vote, vote_by_trusted
from tests.store_state import problems

_names = count()


@pytest.fixture(autouse=True)
def _on(settings):
    settings.PROBATION, settings.VOUCHES = True, 3


@pytest.fixture
def alice(alice):
    return trusted(alice)


@pytest.fixture
def dave():
    return trusted(member("dave"))


def trusted(user: User) -> User:
    user.trust()
    return user


def grow_older(user: User, days: float = 3.1) -> None:
    User.objects.filter(pk=user.pk).update(date_joined=timezone.now() - timedelta(days=days))


def cast(user: User, article: int, choice: str = "vote") -> None:
    assert browser_of(user).post(f"/articles/{article}/vote/", {"choice": choice}).status_code == 302


def keep_house(repository) -> None:
    (step,) = (step for step in housekeeping.run(repository) if step.step == "probation")
    assert not step.error


def left_out_of(repository, article: int) -> LeftOut:
    return repository.articles.get(article).left_out


def state_of(repository, user: User):
    return repository.left_out.get_state(user.pk)


# Who waits


def test_a_new_members_votes_are_shown_and_wait_and_the_member_is_told_until_when(site_store, article, bob):
    cast(bob, article)

    found = site_store.articles.get(article)
    assert (found.votes, found.left_out, found.ranked_points) == (2, LeftOut(1, 0), 1)
    page = unescape(browser_of(bob).get("/mine/voted/").text)
    assert "Your votes are counted and shown, but don’t affect ranking yet." in page
    assert "until your account is 3 days old and your recent articles have 5 points from members who" in page
    assert "A title" in page
    assert browser_of(bob).get("/api/me").json()["votes_wait"] is True
    assert b'"votes_wait": true' in browser_of(bob).get("/settings/data/").getvalue()
    assert problems(site_store) == []


def test_why_it_ranks_here_says_how_many_wait_but_not_whose(site_store, article, bob, carol, mallory):
    cast(bob, article)
    vote(site_store, article, 2)
    set_left_out(mallory, "A ring", actor(carol), left_out=True)
    site_store.votes.cast(article, mallory.pk, Choice.OPPOSE)

    page = unescape(Client().get(f"/articles/{article}/why/").text)

    assert "1 vote is excluded from ranking. 1 vote by a new member doesn’t affect ranking yet." in page
    assert "Of these, waiting" in page
    assert "bob" not in page
    score = Client().get(f"/api/articles/{article}/ranking").json()["score"]
    assert (score["left_out_votes"], score["left_out_opposes"], score["waiting"]) == (1, 1, 1)


def test_votes_on_comments_wait_too(site_store, article, alice, bob):
    comment = comment_on(site_store, article, "Agreed", alice.pk)

    browser_of(bob).post(f"/comments/{comment}/vote/", {"choice": "vote"})

    assert site_store.comments.get(comment).left_out == LeftOut(1, 0)
    assert problems(site_store) == []


def test_the_vote_that_comes_with_posting_waits_too(site_store, bob):
    browser_of(bob).post("/post/", {"title": "Mine", "link": "https://example.org/mine"})

    (article,) = site_store.members.get_posted(bob.pk).articles
    assert (article.points, article.ranked_points) == (1, 0)
    grow_older(bob)
    vote_by_trusted(site_store, article.id)
    keep_house(site_store)
    assert site_store.articles.get(article.id).ranked_points == 6


def test_votes_of_others_and_without_probation_rank_at_once(site_store, settings, article, alice, bob, carol):
    grow_older(bob)
    vote_by_trusted(site_store, post(site_store, 7, poster=bob.pk))
    for user in (bob, carol):
        cast(user, article)
    settings.PROBATION = False
    other = member("other")
    cast(other, article)

    assert left_out_of(site_store, article) == LeftOut(0, 0)
    assert site_store.left_out.list_on_probation(10) == {}
    assert "affect ranking yet" not in browser_of(other).get("/mine/voted/").text


def test_new_members_do_not_trust_each_other(site_store, bob):
    browser_of(bob).post("/post/", {"title": "Mine", "link": "https://example.org/mine"})
    (article,) = site_store.members.get_posted(bob.pk).articles
    for _ in range(9):
        cast(member(f"ring{next(_names)}"), article.id)
    grow_older(bob)

    keep_house(site_store)

    assert site_store.members.get_points(bob.pk) == 9
    assert state_of(site_store, bob).waits


# What ends it


def test_votes_count_all_at_once_when_the_member_is_no_longer_new(site_store, article, bob):
    cast(bob, article)
    grow_older(bob)
    keep_house(site_store)
    assert left_out_of(site_store, article) == LeftOut(1, 0), "the member still needs points"

    vote_by_trusted(site_store, post(site_store, 7, poster=bob.pk))
    keep_house(site_store)

    assert left_out_of(site_store, article) == LeftOut(0, 0)
    assert not state_of(site_store, bob).waits
    assert not site_store.moderation_log.get_page().entries
    assert problems(site_store) == []


def test_switching_it_off_lets_all_votes_count(site_store, settings, article, bob):
    cast(bob, article)

    settings.PROBATION = False
    keep_house(site_store)

    assert left_out_of(site_store, article) == LeftOut(0, 0)


@pytest.mark.parametrize("scope", [BanScope.VOTING, BanScope.BOTH])
def test_votes_of_a_member_who_is_banned_meanwhile_never_count(site_store, article, bob, carol, scope):
    cast(bob, article)
    ban(bob, scope, "Spam", days=1, moderator=actor(carol))

    keep_house(site_store)
    grow_older(bob, 30)
    trusted(bob)
    keep_house(site_store)

    assert left_out_of(site_store, article) == LeftOut(1, 0)
    assert state_of(site_store, bob).is_left_out
    entry = site_store.moderation_log.get_page().entries[0]
    assert (entry.action, entry.actor_name, entry.reason) == (Action.LEAVE_OUT_VOTES, "carol", "Spam")
    assert problems(site_store) == []


def test_votes_of_a_deleted_account_never_count(site_store, article, bob):
    cast(bob, article)
    account_deletion.begin(bob.pk)

    keep_house(site_store)

    assert left_out_of(site_store, article) == LeftOut(1, 0)
    assert site_store.left_out.list_on_probation(10) == {}
    assert problems(site_store) == []


# Vouching


def test_a_vouch_ends_probation_and_those_who_see_the_tree_see_it(site_store, settings, article, alice, bob):
    settings.INVITATION_TREE = "public"
    cast(bob, article)
    keep_house(site_store)
    browser, page = browser_of(alice, strict=True), "/users/bob/"
    shown = unescape(browser.get(page).text)
    assert "New member: their votes don’t affect ranking yet." in shown
    assert browser.post("/users/bob/vouch/").status_code == 403
    token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', shown.partition("/users/bob/vouch/")[2])[1]

    for _ in range(2):  # pressed twice
        told = browser.post("/users/bob/vouch/", {"csrfmiddlewaretoken": token}, follow=True).text
        assert "You vouched for bob: their votes affect ranking in about a minute." in told
        assert "You can vouch for 2 more members now." in told
    keep_house(site_store)

    assert left_out_of(site_store, article) == LeftOut(0, 0)
    assert "Vouched for by" in Client().get(page).text
    assert Client().get("/api/users/bob").json()["vouched_for_by"] == ["alice"]
    cast(bob, article, "oppose")
    assert left_out_of(site_store, article) == LeftOut(0, 0)
    settings.INVITATION_TREE = "moderators"
    assert "Vouched for by" not in Client().get(page).text
    assert Client().get("/api/users/bob").json()["vouched_for_by"] == []
    assert problems(site_store) == []


def test_only_members_in_good_standing_vouch_and_only_for_members_who_wait(
    site_store, settings, article, alice, bob, carol, dave, mallory
):
    cast(bob, article)
    cast(mallory, article)
    refused = "Only other members can vouch"

    def said(by, name="bob"):
        return unescape(browser_of(User.objects.get(pk=by.pk)).post(f"/users/{name}/vouch/", follow=True).text)

    assert refused in said(mallory)
    assert refused in said(bob)
    assert "aren’t waiting" in said(alice, "dave")
    set_left_out(alice, "A ring", actor(carol), left_out=True)
    assert refused in said(alice)
    ban(dave, BanScope.POSTING, "Spam", days=1, moderator=actor(carol))
    assert refused in said(dave)
    assert Vouch.objects.count() == 0
    settings.VOUCHES = 0
    assert browser_of(carol).post("/users/bob/vouch/").status_code == 404
    assert Client().post("/users/bob/vouch/").status_code in (302, 403)


def test_a_member_vouches_for_a_few_in_a_month(site_store, settings, article, alice):
    settings.VOUCHES = 2
    newcomers = [member(f"new{number}") for number in range(3)]
    for one in newcomers:
        cast(one, article)

    told = [browser_of(alice).post(f"/users/{one}/vouch/", follow=True).text for one in newcomers]

    assert "You have vouched for as many members as you can for now." in told[2]
    Vouch.objects.filter(member=newcomers[0]).update(given_at=timezone.now() - timedelta(days=31))
    assert "You vouched for new2" in browser_of(alice).post("/users/new2/vouch/", follow=True).text


def test_wrong_vouches_make_the_next_ones_weigh_less_for_a_year(site_store, article, alice, carol, dave):
    newcomers = [member(f"new{number}") for number in range(4)]
    for one in newcomers:
        cast(one, article)

    def vouch(by, one):
        return unescape(browser_of(by).post(f"/users/{one}/vouch/", follow=True).text)

    vouch(alice, newcomers[0])
    begun = ban(newcomers[0], BanScope.BOTH, "A ring", days=0, moderator=actor(carol))
    assert "Your vouch weighs half, so another one is needed." in vouch(alice, newcomers[1])
    keep_house(site_store)
    assert state_of(site_store, newcomers[1]).waits
    assert "their votes affect ranking in about a minute" in vouch(dave, newcomers[1])
    keep_house(site_store)
    assert not state_of(site_store, newcomers[1]).waits
    set_left_out(newcomers[1], "A ring", actor(carol), left_out=True)
    assert "Only other members can vouch" in vouch(alice, newcomers[2])
    lift_ban(begun, "A mistake", actor(carol))
    set_left_out(newcomers[1], "A mistake", actor(carol), left_out=False)
    assert Vouch.objects.weight_of(alice) == 2
    Vouch.objects.update(wrong_at=timezone.now() - timedelta(days=366))
    assert Vouch.objects.weight_of(alice) == 2


def test_vouches_by_members_who_are_banned_by_then_weigh_nothing(site_store, article, alice, bob, carol):
    cast(bob, article)
    browser_of(alice).post("/users/bob/vouch/")
    ban(alice, BanScope.POSTING, "Spam", days=1, moderator=actor(carol))

    keep_house(site_store)

    assert state_of(site_store, bob).waits


def test_the_export_has_both_sides_and_a_name_where_everyone_sees_it(site_store, settings, article, alice, bob):
    cast(bob, article)
    browser_of(alice).post("/users/bob/vouch/")

    def vouches_in(user):
        return b"".join(browser_of(user).get("/settings/data/")).decode().partition('"vouches_given": ')[2]

    assert '"for": "bob"' in vouches_in(alice)
    assert '"by"' not in vouches_in(bob)
    settings.INVITATION_TREE = "public"
    assert '"by": "alice"' in vouches_in(bob)
    account_deletion.begin(alice.pk)
    assert '"by": null' in vouches_in(bob)
    assert "[deleted]" in Client().get("/users/bob/").text
