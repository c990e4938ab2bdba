"""The account is deleted: by the page, in the store, and by housekeeping what was broken off."""

import re
from contextlib import nullcontext
from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone

from accounts import departures
from accounts.models import Departure, Token, User
from articles import housekeeping
from articles.domain import DELETED_NAME, Actor, Choice
from articles.errors import StoreUnavailable
from tests.pages.conftest import browser_of


@pytest.fixture
def bob_was_busy(site, article, bob, carol):
    """bob posted, voted, saved and moderated; he is logged in elsewhere, and has a token and an address."""
    mine = site.articles.post(bob.pk, "bob", "Bob's", "https://example.org/b").id
    site.votes.cast(article, bob.pk, Choice.OPPOSE)
    site.members.save(bob.pk, article, wanted=True)
    site.articles.edit(mine, Actor(bob.pk, "bob"), "Bob's own", "https://example.org/b", moderator=False)
    Token.objects.issue(bob, "laptop")
    bob.email = "bob@example.org"
    bob.save()
    browser_of(bob).get("/")
    return mine


def delete(browser, name="bob", password="bob's long secret"):
    return browser.post("/settings/delete/", {"name": name, "password": password})


def a_minute_later(site) -> None:
    Departure.objects.update(begun_at=timezone.now() - departures.AGAIN_AFTER - timedelta(seconds=1))
    results = {result.step: result for result in housekeeping.run(site)}
    assert results["departures"].error == ""


def findings(site) -> list[str]:
    return [str(finding) for finding in site.audit.findings()]


def test_articles_and_votes_stay_and_the_name_goes(site, article, bob_was_busy, bob):
    answer = delete(browser_of(bob), name="BOB")

    assert answer["Location"] == "/"
    text = Client().get("/newest/").text
    assert "[deleted]" in text
    assert not re.search(r">\s*bob\s*<|/users/bob/", text)
    found = site.articles.get(article)
    assert (found.votes, found.opposes) == (1, 1)
    log = Client().get("/moderation/").text
    assert "Bob&#39;s own" in log
    assert "[deleted]" in log
    assert "/users/bob/" not in log
    assert Client().get("/users/bob/").status_code == 404
    assert Client().get("/api/articles").json()["articles"][0]["poster"] == ""
    assert findings(site) == []


def test_the_account_is_of_no_use_to_anybody_any_more(site, bob_was_busy, bob):
    browser, other = browser_of(bob), browser_of(bob)
    number = bob.pk

    told = browser.post("/settings/delete/", {"name": "bob", "password": "bob's long secret"}, follow=True).text
    assert "Your account has been deleted." in told
    for one in (browser, other):
        assert one.get("/settings/")["Location"].startswith("/login/")
    assert not Client().login(username="bob", password="bob's long secret")
    a_minute_later(site)

    member = User.objects.get(pk=number)
    assert (member.email, member.is_active, member.tokens.count()) == ("", False, 0)
    assert "bob" not in f"{member.username} {member.canonical_name}"
    assert not Departure.objects.exists()
    assert not [s for s in Session.objects.all() if s.get_decoded().get("_auth_user_id") == str(number)]
    assert findings(site) == []


@pytest.mark.parametrize("name", ["bob", "BOB", "ｂｏｂ"])
@pytest.mark.parametrize("finished", [False, True])
def test_the_name_is_never_given_away_again(site, bob_was_busy, bob, name, finished):
    delete(browser_of(bob))
    if finished:
        a_minute_later(site)

    secret = "a long enough secret"
    answer = Client().post("/signup/", {"username": name, "password1": secret, "password2": secret})

    assert answer.status_code == 200
    assert User.objects.is_taken(name)
    assert "taken" in answer.text or "letters" in answer.text
    assert User.objects.bulk_create_imported(["bob", "zoe"]).keys() == {"zoe"}


def test_a_number_is_never_given_away_again(site, bob):
    number = bob.pk
    delete(browser_of(bob))
    a_minute_later(site)

    assert User.objects.create_user("zoe").pk > number


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"name": "bob", "password": "wrong"}, "The password is wrong."),
        ({"name": "alice", "password": "bob's long secret"}, "This is not your name."),
        ({}, "This field is required."),
    ],
)
def test_nothing_is_deleted_by_a_slip(site, bob, fields, told):
    answer = browser_of(bob).post("/settings/delete/", fields)

    assert answer.status_code == 400
    assert told in answer.text
    assert User.objects.get(pk=bob.pk).is_active
    assert browser_of(bob, strict=True).post("/settings/delete/", fields).status_code == 403
    assert "cannot be undone" in browser_of(bob).get("/settings/delete/").text


def test_the_only_administrator_stays_until_there_is_another(site, bob, alice):
    User.objects.filter(pk=bob.pk).update(is_superuser=True)

    answer = delete(browser_of(bob))

    assert "You are the only administrator." in answer.text
    assert User.objects.get(pk=bob.pk).is_active
    User.objects.filter(pk=alice.pk).update(is_superuser=True)
    assert delete(browser_of(bob)).status_code == 302


def test_a_moderator_may_go(site, article, carol):
    site.articles.remove(article, Actor(carol.pk, "carol"), "Spam")

    assert delete(browser_of(carol), "carol", "carol's long secret").status_code == 302
    assert site.moderation_log.page().entries[0].actor_name == DELETED_NAME
    assert site.moderation_log.page().entries[0].reason == "Spam"


def test_a_store_that_is_away_only_puts_it_off(site, bob_was_busy, bob, monkeypatch):
    def away(*_args):
        raise StoreUnavailable

    with monkeypatch.context() as patch:
        patch.setitem(departures._others, "articles", away)
        assert delete(browser_of(bob)).status_code == 302
    assert Client().get("/users/bob/").status_code == 404
    assert site.articles.get(bob_was_busy).poster_name == "bob"

    housekeeping.run(site)

    assert site.articles.get(bob_was_busy).by_deleted_member
    assert findings(site) == []


def test_what_arrives_late_is_found_a_minute_later(site, bob_was_busy, bob):
    delete(browser_of(bob))
    site.store.client.hset(f"article:{bob_was_busy}", mapping={"poster": bob.pk, "poster_name": "bob"})
    site.store.client.zadd(f"posted:{bob.pk}", {str(bob_was_busy): 1})

    a_minute_later(site)

    assert site.articles.get(bob_was_busy).by_deleted_member
    assert not site.store.client.exists(f"posted:{bob.pk}")


def test_until_then_it_is_not_at_its_end(site, bob):
    delete(browser_of(bob))

    housekeeping.run(site)

    assert Departure.objects.get().pk == bob.pk


class _BrokenOff:
    """Loses the database before one of its commands."""

    def __init__(self, left: int) -> None:
        self.left = left

    def __call__(self, execute, sql, params, many, context):
        if not sql.startswith(("SAVEPOINT", "RELEASE", "ROLLBACK")):
            self.left -= 1
            if self.left < 0:
                raise OperationalError("broken off")
        return execute(sql, params, many, context)


def state(user: int) -> tuple[object, ...]:
    member = User.objects.get(pk=user)
    sessions = [one for one in Session.objects.all() if one.get_decoded().get("_auth_user_id") == str(user)]
    return (
        *(member.username == f"~{user}", member.canonical_name[0], member.email, member.is_active),
        *(member.left_at is None, member.tokens.count(), member.groups.count(), len(sessions)),
        Departure.objects.count(),
    )


@pytest.mark.django_db(transaction=True)
def test_broken_off_at_every_command_to_the_database_it_ends_the_same(site, alice):
    commands, whole = 0, False

    while not whole:
        bob = User.objects.create_user(f"bob{commands}", "bob@example.org", "secret")
        bob.groups.add(Group.objects.get(name="Moderators"))
        article = site.articles.post(bob.pk, bob.username, "T", f"https://example.org/{commands}").id
        site.moderation_log.page()
        Token.objects.issue(bob, "laptop")
        browser_of(bob)
        whole = _leave(bob.pk, _BrokenOff(commands))
        _leave(bob.pk)
        assert state(bob.pk) == (True, "~", "", False, False, 0, 0, 0, 0)
        assert site.articles.get(article).by_deleted_member
        assert User.objects.is_taken(f"bob{commands}")
        commands += 1

    assert commands > 15
    assert findings(site) == []


def _leave(user: int, broken: _BrokenOff | None = None) -> bool:
    """Whether it came to its end."""
    with connection.execute_wrapper(broken) if broken else nullcontext():
        try:
            departures.begin(user)
            departures.go_on(60)
            Departure.objects.update(begun_at=timezone.now() - 2 * departures.AGAIN_AFTER)
            departures.go_on(60)
        except OperationalError:
            return False
    return True


@pytest.mark.django_db(transaction=True)
def test_a_name_that_is_given_up_at_the_very_moment_of_a_sign_up_is_not_given_away(site, alice):
    number = alice.pk
    departures.begin(number)
    departures.go_on(60)
    Departure.objects.update(begun_at=timezone.now() - 2 * departures.AGAIN_AFTER)
    departures.go_on(60)

    with pytest.raises(ValidationError):
        User.objects.create_user("Alice")
    assert User.objects.count() == 1


def test_a_row_that_goes_in_another_way_takes_the_name_off_the_articles_too(site, article, bob_was_busy, bob):
    bob.delete()

    a_minute_later(site)
    a_minute_later(site)
    assert site.articles.get(bob_was_busy).by_deleted_member
    assert "/users/bob/" not in Client().get("/moderation/").text
    assert User.objects.is_taken("bob")
    assert findings(site) == []
