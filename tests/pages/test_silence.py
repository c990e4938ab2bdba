"""Blocked members and muted discussions: whose comments are folded, and who is spared notices."""

import re

import pytest

from accounts import account_deletion
from accounts.models import Block, Mute
from tests.cast import MODERATOR
from tests.factories import browser_of, comment_on, post_as


def notices(site_store, user) -> int:
    return len(site_store.inbox.get_page(user.pk).notices)


def write(user, article: int, text: str, parent: int | None = None) -> None:
    form = {"text": text} | ({"parent": parent} if parent else {})
    assert browser_of(user).post(f"/articles/{article}/comments/", form).status_code == 302


def block(user, name: str, target: str = "block"):
    return browser_of(user).post(f"/users/{name}/block/", {"blocked": target})


def test_a_blocked_members_comments_are_collapsed_only_for_the_member(site_store, article, alice, bob, carol):
    folded = comment_on(site_store, article, "By bob", bob.pk)
    comment_on(site_store, article, "By carol", carol.pk, folded)
    assert block(alice, "BOB")["Location"] == "/users/bob/"

    def folds(reader) -> list[bool]:
        text = browser_of(reader).get(f"/articles/{article}/").text
        return [
            " open" not in tag for tag in re.findall(r"<details[^>]*>\s*<summary><span class=\"unseen\">", text)
        ]

    assert folds(alice) == [True, False]
    assert folds(carol) == folds(None) == [False, False]
    assert '<span class="blocked">' in browser_of(alice).get(f"/comments/{folded}/").text
    assert block(alice, "bob", "unblock").status_code == 302
    assert folds(alice) == [False, False]


def test_a_blocked_member_causes_no_notices(site_store, article, alice, bob, carol):
    own = comment_on(site_store, article, "Mine", alice.pk)
    block(alice, "bob")

    write(bob, article, "To the article, @alice @carol")
    write(bob, article, "To the comment", own)
    browser_of(bob).post("/post/", {"title": "Hello", "link": "", "text": "@alice", "groups": []})
    assert (notices(site_store, alice), notices(site_store, carol)) == (0, 1)
    write(carol, article, "Hello")
    assert notices(site_store, alice) == 1


def test_a_muted_discussion_causes_no_notices_but_those_of_moderators(site_store, article, alice, bob):
    browser = browser_of(alice)
    answer = browser.post(f"/articles/{article}/mute/", {"muted": "mute"})
    assert answer["Location"] == f"/articles/{article}/#comments"
    other = post_as(site_store, alice, "Other", "https://example.org/other").id

    write(bob, article, "Hello @alice")
    assert notices(site_store, alice) == 0
    write(bob, other, "Hello")
    site_store.comments.lock(article, MODERATOR, "Too heated")
    assert notices(site_store, alice) == 2
    assert 'value="unmute"' in browser.get(f"/articles/{article}/").text
    browser.post(f"/articles/{article}/mute/", {"muted": "unmute"})
    assert 'value="mute"' in browser.get(f"/articles/{article}/").text


def test_muted_discussions_are_listed_and_unmuted_in_the_inbox(site_store, article, alice, bob):
    other, path = post_as(site_store, bob, "Other", "https://example.org/o"), f"/articles/{article}/mute/"
    browser_of(alice).post(path, {"muted": "mute"})
    assert "Muted discussions" not in browser_of(bob).get("/inbox/").text

    page = browser_of(alice).get("/inbox/").text
    (section,) = re.findall(r"<summary>Muted discussions.*?</details>", page, re.DOTALL)
    assert f'href="/articles/{article}/"' in section
    assert f'action="{path}"' in section
    assert f"/articles/{other.id}/" not in section

    answer = browser_of(alice).post(path, {"muted": "unmute", "next": "/inbox/"})
    assert answer["Location"] == "/inbox/"
    assert "Muted discussions" not in browser_of(alice).get("/inbox/").text


@pytest.mark.django_db
def test_account_deletion_ends_both_sides_of_a_block(alice, bob, carol):
    for user, other in ((alice, bob), (bob, carol)):
        Block.objects.create(user=user, blocked=other)
    Mute.objects.mute(bob, 1)

    account_deletion.begin(bob.pk)

    assert (Block.objects.count(), Mute.objects.count()) == (0, 0)
