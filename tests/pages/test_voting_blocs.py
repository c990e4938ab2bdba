"""The moderators' page of voting blocs: who is in them, and who sees it."""

import re

import pytest
from django.test import Client

from accounts.models import Invitation, User
from articles.domain.articles import Choice
from moderation import voting_rings
from tests.factories import browser_of, comment_on, member, post_as, vote
from tests.pages.lists import text_of

PAGE = "/moderation/rings/blocs/"


@pytest.fixture
def ring(site_store, alice, carol):
    """Five accounts, of which one is deleted, that voted for twelve of sixty articles."""
    members = [member(f"ring{n}", password="!") for n in range(5)]
    for n in range(60):
        article = post_as(site_store, alice, f"Article {n}", f"https://e.org/{n}").id
        vote(site_store, article, 3)
        for one in members if n % 5 == 0 else ():
            site_store.votes.cast(article, one.pk, Choice.OPPOSE if n == 5 else Choice.VOTE)
    User.objects.filter(pk=members[4].pk).update(left_at=members[0].date_joined)
    return members


def test_moderators_see_the_accounts_and_the_articles_but_no_choice(site_store, ring, alice, carol):
    for one in ring[:2]:
        Invitation.objects.issue(alice)
        Invitation.objects.filter(invited=None).update(invited=one)

    text = text_of(carol, PAGE)

    assert "5 accounts that vote alike On average, two of them made the same choice on 12 articles or on" in text
    assert "2.7. ring0 joined just now , invited by alice ring1 joined just now , invited by alice ring2" in text
    assert (
        "[deleted] 12 articles on which, or on whose comments, three or more of them made the same choice" in text
    )
    assert text.count("Article 5 ") == text.count("Article 55 ") == 1
    assert "Article 1 " not in text
    assert "As of just now ." in text
    assert not re.search("opposed|voted for", text)


def test_accounts_that_agree_on_comments_of_few_articles_are_shown_with_the_number_of_comments(
    site_store, alice, carol
):
    members = [member(f"ring{n}", password="!") for n in range(3)]
    for n in range(4):
        article = post_as(site_store, alice, f"Article {n}", f"https://e.org/{n}").id
        for text in range(40):
            comment = comment_on(site_store, article, str(text), alice.pk)
            voters = [one.pk for one in members] if text % 8 == 0 else range(1000 + text, 1003 + text)
            for one in voters:
                site_store.comments.cast(comment, one, Choice.VOTE)

    text = text_of(carol, PAGE)

    assert (
        "3 accounts that vote alike On average, two of them made the same choice on 20 comments; by chance" in text
    )
    assert "same choice on 4 articles" not in text
    assert "4 articles on which, or on whose comments, three or more of them made the same choice Article" in text


def test_a_deleted_inviter_is_shown_as_deleted_and_two_of_them_are_not_one(site_store, ring, alice, bob, carol):
    User.objects.filter(pk=ring[4].pk).update(left_at=None)
    for n, one in enumerate(ring):
        Invitation.objects.issue(bob if n else alice)
        Invitation.objects.filter(invited=None).update(invited=one)
    User.objects.filter(pk__in=(alice.pk, bob.pk)).update(left_at=alice.date_joined)

    text = text_of(carol, PAGE)
    assert text.count("joined just now , invited by [deleted]") == 5
    assert "All were invited" not in text

    Invitation.objects.update(inviter=bob)
    assert "All were invited by [deleted] . ring0 joined just now ring1" in text_of(carol, PAGE)


def test_an_inviter_whom_all_share_is_named_once(site_store, ring, alice, carol, settings):
    settings.INVITATIONS_PER_MEMBER = 10
    for one in ring:
        Invitation.objects.issue(alice)
        Invitation.objects.filter(invited=None).update(invited=one)
    User.objects.filter(pk=ring[4].pk).update(left_at=None)

    text = text_of(carol, PAGE)

    assert "All were invited by alice . ring0 joined just now ring1" in text


def test_of_a_bloc_that_is_named_in_part_no_common_inviter_is_claimed(site_store, ring, alice, carol, monkeypatch):
    monkeypatch.setattr(voting_rings, "_MOST_ACCOUNTS", 2)
    for one in ring[:2]:
        Invitation.objects.issue(alice)
        Invitation.objects.filter(invited=None).update(invited=one)

    text = text_of(carol, PAGE)

    assert "All were invited" not in text
    assert "ring1 joined just now , invited by alice And 3 more accounts." in text
    monkeypatch.setattr(voting_rings, "_MOST_ACCOUNTS", 4)
    assert "ring3 joined just now And 1 more account." in text_of(carol, PAGE)


def test_others_see_neither_the_page_nor_the_link(site_store, alice, carol):
    assert browser_of(alice).get(PAGE).status_code == 403
    assert Client().get(PAGE)["Location"].startswith("/login/")
    assert PAGE in browser_of(carol).get("/moderation/rings/").text
    assert "No voting blocs found." in text_of(carol, PAGE)
