"""Moderators reset the second step of members who have lost their device."""

import pytest
from django.core import mail
from django.core.management import call_command
from django.test import Client

from accounts.models import User
from accounts.sign_in import codes, second_factor
from tests.cast import password_of
from tests.factories import browser_of
from tests.mail_backends import wait_until_sent

RESET = "/users/alice/moderation/second-step/"
REASON = {"reason": "Lost the phone, and showed me her badge"}


@pytest.fixture
def lost(alice) -> User:
    """Alice, who has lost her device and her codes."""
    User.objects.filter(pk=alice.pk).update(email="alice@example.org", verified_email="alice@example.org")
    codes.save_secret(alice, secret := codes.new_secret(), codes.pyotp.TOTP(secret).now())
    second_factor.turn_on(alice)
    return User.objects.get(pk=alice.pk)


def test_a_moderator_resets_it_and_the_member_is_told_and_logs_in_anew(site_store, lost, carol):
    open_session = browser_of(lost)
    moderator = browser_of(carol)
    assert RESET in moderator.get("/users/alice/moderation/").text

    for _ in range(2):
        assert "has been reset" in moderator.post(RESET, REASON, follow=True).text
    wait_until_sent()

    assert open_session.get("/settings/")["Location"].startswith("/login/")
    logged_in = Client().post("/login/", {"username": "alice", "password": password_of("alice")})
    assert logged_in["Location"] == "/"
    (message,) = mail.outbox
    assert (message.to, "has been reset" in message.body) == (["alice@example.org"], True)
    (entry,) = site_store.moderation_log.get_page().entries
    assert (entry.action.value, entry.actor_name) == ("reset-second-factor", "carol")
    log = Client().get("/moderation/").text
    assert REASON["reason"] in log
    assert "alice" not in log


def test_only_moderators_reset_it_not_their_own_and_administrators_theirs(site_store, lost, carol, bob):
    assert browser_of(bob).post(RESET, REASON).status_code == 403
    User.objects.filter(pk=lost.pk).update(is_staff=True)
    assert browser_of(carol).post(RESET, REASON).status_code == 403
    second_factor.turn_on(carol)
    assert browser_of(carol).post("/users/carol/moderation/second-step/", REASON).status_code == 403
    assert User.objects.filter(second_factor=True).count() == 2

    User.objects.filter(pk=bob.pk).update(is_superuser=True)
    assert browser_of(bob).post(RESET, REASON).status_code == 302
    assert not User.objects.get(pk=lost.pk).second_factor


def test_the_operator_resets_it_by_a_command(site_store, lost, capsys):
    call_command("reset_second_factor", "Alice")

    assert "alice logs in without a second step now." in capsys.readouterr().out
    assert not User.objects.get(pk=lost.pk).second_factor
