"""Accounts that a process remembers: every change, by whichever process, shows in the next request."""

import time
from datetime import timedelta
from itertools import count

import pytest
from django.contrib.auth.models import Group, Permission
from django.contrib.sessions.backends.db import SessionStore as DatabaseSessions
from django.core.cache import caches
from django.db import connection, transaction
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import account_deletion
from accounts.models import Ban, BanScope, Block, Mute, User
from accounts.remembered import LONGEST_SECONDS, SessionStore
from accounts.web.backend import member_of

PREFERENCES = {"language": "zh-hans", "theme": "dark", "hidden_groups": "python"}


def ask(browser, store=SessionStore):
    """Return the member of a request by this browser, and how many queries finding the member took."""
    request = RequestFactory().get("/")
    request.session = store(browser.cookies["sessionid"].value)
    with CaptureQueriesContext(connection) as queries:
        return member_of(request), len(queries)


def facts(member):
    if not member.is_authenticated:
        return None
    values = {field.attname: getattr(member, field.attname) for field in User._meta.concrete_fields}
    return values | {
        "permissions": member.has_permissions,
        "mutes": member.is_muting,
        "blocks": member.blocked_ids,
    }


def stored(member):
    return facts(User.objects.get(pk=member.pk, is_active=True))


@pytest.fixture
def known(as_alice, alice):
    """A browser in which alice is logged in, whose account the process remembers."""
    for _ in range(3):
        ask(as_alice)
    assert ask(as_alice)[1] == 0
    return as_alice


def test_the_account_of_a_session_is_read_once_until_it_changes(known, alice):
    member, queries = ask(known)

    assert queries == 0
    assert facts(member) == stored(alice)
    User.objects.filter(pk=alice.pk).update(theme="dark")
    assert [ask(known)[1] for _ in range(3)] == [1, 0, 0]


def ban(alice):
    return Ban.objects.begin(
        alice, BanScope.BOTH, "spam", ends_at=timezone.now() + timedelta(days=1), moderator_id=alice.pk
    )


def saved(alice, **values):
    vars(alice).update(values)
    alice.save()


def in_bulk(alice):
    alice.theme = "dark"
    User.objects.bulk_update([alice], ["theme"])


def given_a_password(alice):
    alice.set_password("another one")
    alice.save(update_fields=["password"])


def helpers():
    return Group.objects.get_or_create(name="helpers")[0]


def permission():
    return Permission.objects.get(codename="ban_members")


def joins_helpers(alice):
    alice.groups.add(helpers())


def is_permitted(alice):
    alice.user_permissions.add(permission())


def blocks_bob(alice):
    Block.objects.create(user=alice, blocked=User.objects.get(username="bob"))


def mutes(alice):
    Mute.objects.mute(alice, 1)


CHANGES = {
    "preferences": (lambda alice: saved(alice, **PREFERENCES), None),
    "staff": (lambda alice: saved(alice, is_staff=True, is_superuser=True), None),
    "a query": (lambda alice: User.objects.filter(pk=alice.pk).update(**PREFERENCES), None),
    "a query for all": (lambda _: User.objects.update(inbox_read_until=1), None),
    "in bulk": (in_bulk, None),
    "a name": (lambda alice: alice.rename("alicia"), None),
    "trust": (User.trust, None),
    "a ban": (ban, None),
    "a ban lifted": (lambda alice: Ban.objects.lift(alice.bans.get()), ban),
    "a group": (joins_helpers, None),
    "a group's member": (lambda alice: helpers().user_set.set([alice]), None),
    "no groups": (lambda alice: alice.groups.set([]), joins_helpers),
    "a group's member removed": (lambda alice: helpers().user_set.set([]), joins_helpers),
    "a group cleared": (lambda _: helpers().user_set.clear(), joins_helpers),
    "a permission": (is_permitted, None),
    "no permissions": (lambda alice: alice.user_permissions.clear(), is_permitted),
    "a block": (blocks_bob, None),
    "no blocks": (lambda alice: alice.blocks.all().delete(), blocks_bob),
    "a mute": (mutes, None),
    "no mutes": (lambda alice: alice.mutes.all().delete(), mutes),
}
"""Changes of alice's account, and what must be so before."""


@pytest.mark.parametrize(("change", "before"), CHANGES.values(), ids=CHANGES)
def test_a_change_shows_in_the_next_request(as_alice, alice, bob, change, before):
    if before:
        before(alice)
    for _ in range(3):
        ask(as_alice)
    former = stored(alice)

    change(alice)

    assert stored(alice) != former
    assert facts(ask(as_alice)[0]) == stored(alice)


@pytest.mark.parametrize(
    "end",
    [
        given_a_password,
        lambda alice: saved(alice, is_active=False),
        lambda alice: User.objects.filter(pk=alice.pk).update(is_active=False),
        lambda alice: account_deletion.begin(alice.pk),
        lambda alice: alice.delete(),
    ],
)
def test_a_session_ends_with_the_next_request(known, alice, end):
    end(alice)

    assert not ask(known)[0].is_authenticated


def test_a_logout_ends_the_session_in_every_process(known):
    SessionStore(known.cookies["sessionid"].value).flush()

    assert not ask(known)[0].is_authenticated


@pytest.mark.parametrize("is_first", [True, False])
def test_a_change_during_the_reading_of_the_row_shows_in_the_next_request(known, alice, is_first):
    changes = count()

    def change_once(execute, sql, params, many, context):
        is_reading = "EXISTS" in sql and next(changes) == 0
        if is_reading and is_first:
            another_process_changes(alice)
        found = execute(sql, params, many, context)
        if is_reading and not is_first:
            another_process_changes(alice)
        return found

    User.objects.filter(pk=alice.pk).update(theme="light")
    with connection.execute_wrapper(change_once):
        ask(known)

    for _ in range(3):
        assert ask(known)[0].theme == "dark"


def another_process_changes(alice):
    User.objects.filter(pk=alice.pk).update(theme="dark")


def test_a_row_read_before_a_transaction_ended_is_not_used_after(known, alice, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        alice.save()
        former = [ask(known)[1] for _ in range(3)]  # as a process does that cannot see the change yet

    assert former == [1, 0, 0]
    assert ask(known)[1] == 1


def test_a_session_survives_the_loss_of_the_cache(known, alice):
    caches["default"].clear()

    assert facts(ask(known)[0]) == stored(alice)


def test_a_change_that_the_cache_was_not_told_of_shows_within_a_minute(known, alice, monkeypatch, caplog):
    with monkeypatch.context() as broken:
        broken.setattr(caches["default"], "delete", lambda *_: 1 / 0)
        User.objects.filter(pk=alice.pk).update(theme="dark")
    assert "former rows of accounts" in caplog.text

    later = time.monotonic() + LONGEST_SECONDS + 1
    monkeypatch.setattr("time.monotonic", lambda: later)

    assert ask(known)[0].theme == "dark"


def test_without_a_cache_every_request_reads_the_account(known, alice, settings):
    settings.CACHES = {"default": {"BACKEND": "django.core.cache.backends.dummy.DummyCache"}}

    assert [ask(known)[1] for _ in range(3)] == [2, 2, 2]
    assert [ask(known, DatabaseSessions)[1] for _ in range(3)] == [2, 2, 2]


def test_a_session_whose_member_is_another_than_before_is_that_members(known, bob):
    session = SessionStore(known.cookies["sessionid"].value)
    session["_auth_user_id"], session["_auth_user_hash"] = str(bob.pk), bob.get_session_auth_hash()
    session.save()

    assert [ask(known)[0] for _ in range(3)] == [bob] * 3
