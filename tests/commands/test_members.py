"""`manage.py rename_member`, `delete_member` and `changepassword`."""

import pytest
from django.contrib.auth import authenticate
from django.core.management.base import CommandError

from accounts.models import User
from articles.domain.errors import StoreUnavailable
from articles.domain.members import DELETED_NAME
from articles.domain.moderation_log import Actor
from tests.factories import browser_of, comment_on
from tests.internals import failing
from tests.store_state import problems


@pytest.fixture
def posts(site_store, alice):
    """Alice's articles, one of them edited, and a comment of hers."""
    ids = [
        site_store.articles.post(alice.pk, "alice", f"No. {n}", f"https://example.org/{n}").id for n in range(60)
    ]
    site_store.articles.edit(
        ids[0], Actor(alice.pk, "alice"), "Another title", "https://example.org/0", moderator=False
    )
    return ids, comment_on(site_store, ids[1], "Hello", alice.pk)


def names_in(site_store, posts) -> set[str]:
    ids, comment = posts
    names = {article.poster_name for article in site_store.articles.get_many(ids)}
    return names | {site_store.comments.get(comment).author_name, *actors(site_store)}


def actors(site_store) -> list[str]:
    return [entry.actor_name for entry in site_store.moderation_log.get_page().entries]


def test_a_member_gets_another_name_everywhere(run, site_store, posts, alice):
    browser = browser_of(alice)

    output = run("rename_member", "Alice", "alison")

    assert output == "alice is alison now. Texts that mention @alice stay as they are.\n"
    assert names_in(site_store, posts) == {"alison"}
    assert browser.get("/users/alison/").text.count("/users/alison/") > 20, "and still logged in"
    assert browser.get("/users/alice/").status_code == 404
    assert "No. 59" in browser.get("/search/", {"q": "alison", "order": "time"}).text
    assert "No. 59" not in browser.get("/search/", {"q": "alice", "order": "time"}).text
    assert User.objects.is_taken("ALICE"), "no one else gets the former name"
    assert problems(site_store) == []


def test_a_rename_that_was_interrupted_is_repeated(run, site_store, posts):
    rename = type(site_store.account_deletion), "rename"
    with failing(*rename, StoreUnavailable), pytest.raises(CommandError):
        run("rename_member", "alice", "alison")
    run("rename_member", "alice", "alison")

    assert names_in(site_store, posts) == {"alison"}
    assert User.objects.filter(left_at=None, username="alison").count() == 1


@pytest.mark.parametrize(
    ("former", "name", "sentence"),
    [
        ("alice", "bob", "This name is taken."),
        ("alice", "BOB", "This name is taken."),
        ("alice", "a b", "2 to 30 characters"),
        ("mallory", "alison", "There is no member mallory."),
        ("mallory", "bob", "There is no member mallory."),
    ],
)
def test_a_rename_that_is_not_possible_changes_nothing(run, site_store, posts, bob, former, name, sentence):
    with pytest.raises(CommandError, match=sentence):
        run("rename_member", former, name)

    assert names_in(site_store, posts) == {"alice"}


def test_an_account_is_deleted_as_its_member_can(run, site_store, posts, alice):
    assert "alice is deleted." in run("delete_member", "ALICE")

    assert not User.objects.get(pk=alice.pk).is_active
    assert names_in(site_store, posts) == {"", DELETED_NAME}
    with pytest.raises(CommandError, match="There is no member alice"):
        run("delete_member", "alice")


def test_the_last_administrator_is_not_deleted(run, alice):
    User.objects.filter(pk=alice.pk).update(is_superuser=True)

    with pytest.raises(CommandError, match="alice is the only administrator"):
        run("delete_member", "alice")


def test_the_password_of_a_member_is_changed_in_the_terminal(run, alice, monkeypatch):
    browser = browser_of(alice)
    monkeypatch.setattr("getpass.getpass", lambda **_: "a new password of some length")

    run("changepassword", "alice")

    assert authenticate(username="alice", password="a new password of some length") == alice
    assert browser.get("/settings/").status_code == 302, "sessions have ended"
