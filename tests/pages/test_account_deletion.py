"""Account deletion: through the page, in the store, and by housekeeping after an interruption."""

import re
from contextlib import nullcontext
from datetime import timedelta
from functools import partial

import pytest
from django.contrib.auth.models import Group, Permission
from django.contrib.sessions.models import Session
from django.core.exceptions import ValidationError
from django.db import OperationalError, connection
from django.db.models import F
from django.test import Client
from django.utils import timezone

from accounts import account_deletion
from accounts.models import AboutFlag, AccountDeletion, Sweep, Token, User
from articles import housekeeping
from articles.domain.articles import Choice
from articles.domain.moderation_log import Action
from articles.web import account_ids
from tests.cast import password_of
from tests.factories import actor, browser_of, post_as
from tests.store_state import has_posted_list, lost_connection, put_back_name


@pytest.fixture
def bob_was_busy(site_store, article, bob, carol):
    """Return an article that bob posted; he also voted, saved, and has another session, a token and an address."""
    mine = post_as(site_store, bob, "Bob's", "https://example.org/b").id
    site_store.votes.cast(article, bob.pk, Choice.OPPOSE)
    site_store.members.save(bob.pk, article, wanted=True)
    site_store.articles.edit(mine, actor(bob), "Bob's own", "https://example.org/b", moderator=False)
    Token.objects.issue(bob, "laptop")
    bob.email = "bob@example.org"
    bob.save()
    browser_of(bob).get("/")
    return mine


def delete(browser, name="bob"):
    return browser.post("/settings/delete/", {"name": name})


def lapse(time: timedelta) -> None:
    """Let time pass for all deletions."""
    AccountDeletion.objects.update(begun_at=F("begun_at") - time)
    User.objects.exclude(left_at=None).update(left_at=F("left_at") - time)


def a_minute_later(site_store) -> None:
    lapse(account_deletion.AGAIN_AFTER + timedelta(seconds=1))
    results = {result.step: result for result in housekeeping.run(site_store)}
    assert results["account_deletion"].error == ""


def a_month_later(site_store) -> None:
    """Run housekeeping for the second pass, and for the last one."""
    a_minute_later(site_store)
    lapse(account_deletion.KEPT)
    housekeeping.run(site_store)


def findings(site_store) -> list[str]:
    return [str(finding) for finding in site_store.audit.run()]


def test_articles_and_votes_stay_and_the_name_is_removed(site_store, article, bob_was_busy, bob):
    answer = delete(browser_of(bob), name="BOB")

    assert answer["Location"] == "/"
    text = Client().get("/newest/").text
    assert "[deleted]" in text
    assert not re.search(r">\s*bob\s*<|/users/bob/", text)
    found = site_store.articles.get(article)
    assert (found.votes, found.opposes) == (1, 1)
    log = Client().get("/moderation/").text
    assert "Bob&#39;s own" in log
    assert "[deleted]" in log
    assert "/users/bob/" not in log
    assert Client().get("/users/bob/").status_code == 404
    assert Client().get("/api/articles").json()["articles"][0]["poster"] == ""
    assert findings(site_store) == []


def test_the_log_keeps_the_removal_of_a_profile_text_without_the_name(site_store, bob, carol):
    site_store.moderation_log.note(Action.REMOVE_ABOUT, actor(carol), "bob", "It advertises")

    delete(browser_of(bob))

    log = Client().get("/moderation/").text
    assert "It advertises" in log
    assert "[deleted]" in log
    assert "bob" not in log


def test_sending_the_form_twice_reports_that_the_account_is_deleted(site_store, bob):
    browser, again = browser_of(bob), browser_of(bob)

    for one in (browser, again, Client()):  # the previous account's session has already ended
        told = one.post("/settings/delete/", {"name": "BOB"}, follow=True)
        assert told.redirect_chain == [("/", 302)]
        assert "Your account has been deleted." in told.text
    for _ in range(2):
        a_minute_later(site_store)
    assert delete(Client())["Location"] == "/login/?next=/settings/delete/"


def test_a_deleted_account_can_no_longer_be_used(site_store, bob_was_busy, bob):
    browser, other = browser_of(bob), browser_of(bob)
    number = bob.pk

    delete(browser)
    for one in (browser, other):
        assert one.get("/settings/")["Location"].startswith("/login/")
    assert not Client().login(username="bob", password=password_of("bob"))
    a_minute_later(site_store)

    member = User.objects.get(pk=number)
    assert (member.email, member.is_active, member.tokens.count()) == ("", False, 0)
    assert "bob" not in f"{member.username} {member.canonical_name}"
    assert not [s for s in Session.objects.all() if s.get_decoded().get("_auth_user_id") == str(number)]
    assert findings(site_store) == []


def test_no_personal_data_stays_on_the_account(site_store, bob, alice):
    User.objects.filter(pk=alice.pk).update(is_superuser=True)
    bob.email, bob.language, bob.theme, bob.keyboard, bob.hidden_groups = "b@example.org", "en", "dark", False, "x"
    bob.followed_groups, bob.feed_key = "python", "x"
    bob.about, bob.about_removed = "I sell pills", "Spam"
    AboutFlag.objects.create(member=bob, flagger=alice, reason="spam")
    AboutFlag.objects.create(member=alice, flagger=bob, reason="spam")
    bob.is_staff = bob.is_superuser = bob.imported = True
    bob.last_login = timezone.now()
    bob.save()
    bob.groups.add(Group.objects.get(name="Moderators"))
    bob.user_permissions.add(Permission.objects.first())
    joined = bob.date_joined

    delete(browser_of(bob))
    a_minute_later(site_store)

    left = User.objects.get(pk=bob.pk)
    assert (left.email, left.language, left.theme, left.keyboard, left.hidden_groups) == ("", "", "", True, "")
    assert (left.followed_groups, left.feed_key, left.feed_token) == ("", "", "")
    assert (left.about, left.about_removed, AboutFlag.objects.count()) == ("", "", 0)
    assert (left.is_active, left.is_staff, left.is_superuser, left.last_login) == (False, False, False, None)
    assert not left.has_usable_password()
    assert not left.groups.exists()
    assert not left.user_permissions.exists()
    assert (left.username, left.date_joined, left.left_at is None) == (f"~{bob.pk}", joined, False)
    assert User.objects.get(pk=alice.pk).is_superuser


def test_searches_and_feeds_no_longer_contain_the_name(site_store, bob_was_busy, bob):
    assert "Bob&#39;s own" in Client().get("/search/?q=bob").text
    assert Client().get("/feeds/users/bob.atom").status_code == 200
    site_store.articles.edit(bob_was_busy, actor(bob), "Mine", "https://example.org/m", moderator=False)

    delete(browser_of(bob))

    assert f"/articles/{bob_was_busy}/" not in Client().get("/search/?q=bob").text
    assert f"/articles/{bob_was_busy}/" in Client().get("/search/?q=mine").text
    assert Client().get("/feeds/users/bob.atom").status_code == 404


@pytest.mark.parametrize("name", ["bob", "BOB", "ｂｏｂ"])
@pytest.mark.parametrize("finished", [False, True])
def test_the_name_is_never_reused(site_store, bob_was_busy, bob, name, finished):
    delete(browser_of(bob))
    if finished:
        a_minute_later(site_store)

    secret = "a long enough secret"
    answer = Client().post("/signup/", {"username": name, "password1": secret, "password2": secret})

    assert answer.status_code == 200
    assert User.objects.is_taken(name)
    assert "taken" in answer.text or "letters" in answer.text
    assert User.objects.bulk_create_imported(["bob", "zoe"]).keys() == {"zoe"}


@pytest.mark.parametrize(
    ("fields", "told"), [({"name": "alice"}, "This is not your username."), ({}, "This field is required.")]
)
def test_nothing_is_deleted_by_accident(site_store, bob, fields, told):
    answer = browser_of(bob).post("/settings/delete/", fields)

    assert answer.status_code == 400
    assert told in answer.text
    assert User.objects.get(pk=bob.pk).is_active
    assert browser_of(bob, strict=True).post("/settings/delete/", fields).status_code == 403
    assert "cannot be undone" in browser_of(bob).get("/settings/delete/").text


def test_the_only_administrator_who_can_log_in_cannot_delete_the_account(site_store, bob, alice):
    User.objects.filter(pk__in=(alice.pk, bob.pk)).update(is_superuser=True)
    User.objects.filter(pk=alice.pk).update(is_active=False)

    answer = delete(browser_of(bob))

    assert "You are the only administrator." in answer.text
    assert User.objects.get(pk=bob.pk).is_active
    User.objects.filter(pk=alice.pk).update(is_active=True)
    assert delete(browser_of(bob)).status_code == 302


def test_a_process_that_comes_too_late_finishes_nothing_twice(site_store, bob):
    account_deletion.begin(bob.pk)
    late = AccountDeletion.objects.get()
    a_month_later(site_store)

    assert not account_deletion._finish(late)

    assert User.objects.is_taken("bob")
    assert User.objects.get(pk=bob.pk).username == f"~{bob.pk}"


@pytest.fixture
def let_step():
    """Replace the step that concerns articles."""
    yield partial(account_deletion.register_step, "articles")
    account_deletion.register_step("articles", account_ids.anonymise)


def test_a_deletion_that_fails_is_reported_and_does_not_block_others(site_store, bob, alice, let_step):
    def fail_for_bob(user, *_rest):
        if user == bob.pk:
            raise ValueError("of bob's")
        return ""

    let_step(fail_for_bob)
    for member in (bob, alice):
        account_deletion.begin(member.pk)
    lapse(account_deletion.KEPT)

    with pytest.raises(ValueError, match="of bob's"):
        account_deletion.advance_all(60)

    assert [deletion.pk for deletion in AccountDeletion.objects.all()] == [bob.pk]
    results = {result.step: result for result in housekeeping.run(site_store)}
    assert "of bob's" in results["account_deletion"].error


def test_steps_that_come_and_go_while_a_deletion_runs_leave_the_others_as_they_are(bob, monkeypatch):
    calls = []

    def step(name):
        def take(_user, _name, progress, _more, _is_last):
            calls.append((name, progress))
            return "" if progress else "half"

        return name, take

    def advance(times, *names):
        monkeypatch.setattr(account_deletion, "_steps", dict(map(step, names)))
        for _ in range(times):
            account_deletion.advance_all(0)
        said, calls[:] = calls[:], []
        return said

    account_deletion.begin(bob.pk)
    assert advance(4, "a", "b") == [("a", ""), ("a", "half"), ("b", "")], "after the sessions"
    assert advance(3, "new", "b", "c") == [("new", ""), ("new", "half"), ("b", "half")], "without a"
    assert advance(9, "a", "c") == [("c", ""), ("c", "half")]
    lapse(account_deletion.AGAIN_AFTER)
    assert advance(9, "c", "a") == [("c", ""), ("c", "half"), ("a", ""), ("a", "half")], "the second pass"
    assert User.objects.get(pk=bob.pk).username == f"~{bob.pk}"
    assert advance(9, "c", "late") == [], "until moderators see nothing of it any longer"
    lapse(account_deletion.KEPT)
    assert advance(9, "late") == [("late", ""), ("late", "half")] * 2, (
        "to end the second pass, and in the last one"
    )
    assert not AccountDeletion.objects.exists()


def test_an_unavailable_store_only_delays_the_deletion(site_store, bob_was_busy, bob):
    with lost_connection(site_store):
        assert delete(browser_of(bob)).status_code == 302
    assert Client().get("/users/bob/").status_code == 404
    assert site_store.articles.get(bob_was_busy).poster_name == "bob"

    housekeeping.run(site_store)

    assert site_store.articles.get(bob_was_busy).by_deleted_member
    assert findings(site_store) == []


def test_data_that_arrives_late_is_found_a_minute_later(site_store, bob_was_busy, bob):
    delete(browser_of(bob))
    housekeeping.run(site_store)  # within the minute, after which alone a deletion is complete
    put_back_name(site_store, bob_was_busy, bob.pk, "bob")

    a_minute_later(site_store)

    assert site_store.articles.get(bob_was_busy).by_deleted_member
    assert findings(site_store) == []


class _BrokenOff:
    """A connection that loses the database before one of its commands."""

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
        member.username == f"~{user}", member.canonical_name[0], member.email, member.is_active,
        member.left_at is None, member.tokens.count(), member.groups.count(), len(sessions),
        AccountDeletion.objects.count(),
    )  # fmt: skip


@pytest.mark.django_db(transaction=True)
@pytest.mark.hostile
def test_a_deletion_interrupted_at_any_database_command_ends_the_same(site_store, alice):
    commands, whole = 0, False

    while not whole:
        bob = User.objects.create_user(f"bob{commands}", "bob@example.org", "secret")
        bob.groups.add(Group.objects.get(name="Moderators"))
        article = post_as(site_store, bob, "T", f"https://example.org/{commands}").id
        site_store.moderation_log.get_page()
        Token.objects.issue(bob, "laptop")
        browser_of(bob)
        whole = _leave(bob.pk, _BrokenOff(commands))
        _leave(bob.pk)
        assert state(bob.pk) == (True, "~", "", False, False, 0, 0, 0, 0)
        assert site_store.articles.get(article).by_deleted_member
        assert User.objects.is_taken(f"bob{commands}")
        commands += 1

    assert commands > 15
    assert findings(site_store) == []


def _leave(user: int, broken: _BrokenOff | None = None) -> bool:
    """Delete the account; return whether the deletion completed."""
    with connection.execute_wrapper(broken) if broken else nullcontext():
        try:
            account_deletion.begin(user)
            for time in (timedelta(), 2 * account_deletion.AGAIN_AFTER, account_deletion.KEPT):
                lapse(time)
                account_deletion.advance_all(60)
        except OperationalError:
            return False
    return True


@pytest.mark.django_db(transaction=True)
def test_a_name_released_during_a_sign_up_is_not_reused(site_store, alice):
    number = alice.pk
    account_deletion.begin(number)
    account_deletion.advance_all(60)
    AccountDeletion.objects.update(begun_at=timezone.now() - 2 * account_deletion.AGAIN_AFTER)
    account_deletion.advance_all(60)

    with pytest.raises(ValidationError):
        User.objects.create_user("Alice")
    assert User.objects.count() == 1


def test_deleting_the_row_another_way_also_removes_the_name_from_articles(site_store, article, bob_was_busy, bob):
    bob.delete()

    a_minute_later(site_store)
    a_minute_later(site_store)
    assert site_store.articles.get(bob_was_busy).by_deleted_member
    assert "/users/bob/" not in Client().get("/moderation/").text
    assert User.objects.is_taken("bob")
    assert findings(site_store) == []


def test_what_is_kept_for_moderators_is_gone_after_a_month(site_store, bob_was_busy, bob, carol):
    sweep = Sweep.objects.create(member=bob, moderator=carol, reason="Spam", since=timezone.now())
    delete(browser_of(bob))
    a_minute_later(site_store)
    assert User.objects.get(pk=bob.pk).username == f"~{bob.pk}"
    lapse(account_deletion.KEPT - timedelta(minutes=5))
    housekeeping.run(site_store)
    assert site_store.articles.get(bob_was_busy).former == bob.pk
    assert Sweep.objects.get() == sweep

    lapse(timedelta(minutes=5))
    housekeeping.run(site_store)

    assert site_store.articles.get(bob_was_busy).former is None
    assert not has_posted_list(site_store, bob.pk)
    assert not Sweep.objects.exists()
    assert not AccountDeletion.objects.exists()
    assert findings(site_store) == []


def test_a_deleted_account_whose_row_is_deleted_too_stays_known_for_the_month(site_store, bob_was_busy, bob):
    number = bob.pk
    delete(browser_of(bob))
    a_minute_later(site_store)
    User.objects.get(pk=number).delete()

    assert account_deletion.find_deleted(number)
    a_month_later(site_store)
    assert site_store.articles.get(bob_was_busy).former is None
    assert not AccountDeletion.objects.exists()
