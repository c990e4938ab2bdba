"""Verifying the address for mail, choosing what is mailed, and unsubscribing."""

import re
from datetime import timedelta
from html import unescape

import pytest
import time_machine
from django.contrib.auth.models import Permission
from django.core import mail
from django.test import Client
from django.utils import timezone

from accounts.mail import VERIFY_DAYS, WAITING, unsubscribe_token, verification_token
from accounts.models import User
from tests.cast import PASSWORD
from tests.factories import browser_of
from tests.mail_backends import wait_until_sent

ALL = ["reply", "mention", "moderation", "flag", "suggestion"]


@pytest.fixture
def verified(alice):
    alice.verified_email = alice.email
    alice.save()
    return alice


def sent_link(client: Client) -> str:
    """Request a link, and return its path from the mail."""
    assert client.post("/settings/mail/link/").status_code == 302
    wait_until_sent()
    (message,) = mail.outbox
    assert message.to == ["alice@example.org"]
    found = re.search(r"http://localhost:\d+(/settings/mail/verify/\S+/)", message.body)
    assert found
    return found[1]


def test_a_site_that_prints_its_mail_claims_to_send_none(settings, as_alice):
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    done = as_alice.post("/settings/mail/link/", follow=True).text
    changed = as_alice.post("/settings/email/", {"email": "other@example.org"}, follow=True).text

    for page in (done, changed, Client().get("/password/reset/").text, Client().get("/password/reset/sent/").text):
        assert "This site doesn’t send emails yet." in page
    assert "sent a link" not in done
    assert "sent to it" not in changed


def test_a_link_verifies_the_address_at_the_push_of_a_button(alice, as_alice):
    link = sent_link(as_alice)

    assert "alice@example.org" in Client().get(link).text
    alice.refresh_from_db()
    assert not alice.has_verified_email, "programs that check mails open links"
    assert Client().post(link)["Location"] == "/settings/mail/"
    alice.refresh_from_db()
    assert alice.has_verified_email
    as_alice.post("/settings/mail/link/")
    wait_until_sent()
    assert len(mail.outbox) == 1, "there is nothing to verify"


def test_an_address_given_at_sign_up_gets_a_link_and_the_inbox_sends_it_again_until_it_is_verified(
    site_store, client
):
    fields = {"username": "newcomer", "email": "new@example.org", "password1": PASSWORD, "password2": PASSWORD}
    pages = [client.post("/signup/", fields, follow=True).text for _ in range(2)]  # a double click
    assert "We’ve sent a link to new@example.org." in unescape(pages[0])
    wait_until_sent()
    (message,) = mail.outbox
    assert message.to == ["new@example.org"]
    assert "If the account isn’t yours, ignore this email" in message.body
    inbox = client.get("/inbox/").text
    assert "new@example.org is not verified yet" in inbox

    assert client.post("/settings/mail/link/", {"next": "/inbox/"})["Location"] == "/inbox/"

    wait_until_sent()
    assert len(mail.outbox) == 2
    Client().post(re.search(r"/settings/mail/verify/\S+/", mail.outbox[1].body)[0])
    assert "new@example.org" not in client.get("/inbox/").text


def test_one_address_gets_no_more_links_however_many_sign_up_with_it(db, limits):
    limits(signups=None)
    for number in range(8):
        fields = {"username": f"fresh{number}", "password1": PASSWORD, "password2": PASSWORD}
        assert Client().post("/signup/", fields | {"email": "victim@example.org"}).status_code == 302
    wait_until_sent()

    assert len(mail.outbox) == 5


def test_a_changed_address_gets_a_link_at_once(verified):
    browser = browser_of(verified)
    assert "Open the link" in unescape(
        browser.post("/settings/email/", {"email": "new@example.org"}, follow=True).text
    )
    browser.post("/settings/email/", {"email": "new@example.org"})
    wait_until_sent()

    links = [message for message in mail.outbox if "/settings/mail/verify/" in message.body]
    assert [message.to for message in links] == [["new@example.org"]]


def test_a_link_is_for_one_address_and_expires(alice, as_alice):
    link = f"/settings/mail/verify/{verification_token(alice)}/"
    with time_machine.travel(timezone.now() + timedelta(days=VERIFY_DAYS, seconds=9)):
        assert Client().post(link).status_code == 404
    assert Client().post(link[:-2] + "/").status_code == 404
    alice.email = "new@example.org"
    alice.save()
    assert Client().post(link).status_code == 404
    alice.refresh_from_db()
    assert not alice.has_verified_email


def test_a_changed_address_is_no_longer_verified(verified):
    verified.email = "new@example.org"
    verified.save()

    assert not verified.has_verified_email
    assert "new@example.org is your address" in browser_of(verified).get("/settings/mail/").text


def test_members_choose_what_is_mailed(verified):
    browser = browser_of(verified)
    assert 'value="reply"' in browser.get("/settings/mail/").text

    for kinds in (ALL, ["mention"], []):
        assert browser.post("/settings/mail/", {"kinds": kinds}).status_code == 302
        verified.refresh_from_db()
        assert verified.mail_kinds == ",".join(kinds)
    browser.post("/settings/mail/", {"kinds": ["everything"]})
    verified.refresh_from_db()
    assert verified.mail_kinds == ""


def test_turning_mail_on_does_not_mail_older_notices(verified):
    with time_machine.travel(1_900_000_000, tick=False):
        browser_of(verified).post("/settings/mail/", {"kinds": ["reply"]})
    verified.refresh_from_db()
    assert verified.mailed_until == 1_900_000_000
    browser_of(verified).post("/settings/mail/", {"kinds": ["mention"]})
    verified.refresh_from_db()
    assert verified.mailed_until == 1_900_000_000, "what is due is still mailed"


def test_the_weekly_mail_begins_a_week_after_it_is_turned_on(verified):
    with time_machine.travel(1_900_000_000, tick=False):
        browser_of(verified).post("/settings/mail/", {"digest": "on"})
    verified.refresh_from_db()
    assert (verified.digest, verified.digested_at, verified.mail_kinds) == (True, 1_900_000_000, "")
    browser_of(verified).post("/settings/mail/", {"digest": "on", "kinds": ["reply"]})
    verified.refresh_from_db()
    assert verified.digested_at == 1_900_000_000
    browser_of(verified).post("/settings/mail/", {})
    verified.refresh_from_db()
    assert not verified.digest


def test_nothing_is_mailed_to_an_address_that_is_not_verified(alice, as_alice):
    as_alice.post("/settings/mail/", {"kinds": ALL, "digest": "on"})

    alice.refresh_from_db()
    assert (alice.mail_kinds, alice.digest) == ("", False)
    assert 'value="reply"' not in as_alice.get("/settings/mail/").text


def test_unsubscribing_takes_a_post_and_neither_a_login_nor_a_token(verified):
    verified.mail_kinds = "reply"
    verified.save()
    link, browser = f"/unsubscribe/{unsubscribe_token(verified)}/", Client(enforce_csrf_checks=True)

    assert "Stop all email notices" in browser.get(link).text
    verified.refresh_from_db()
    assert verified.mail_kinds == "reply"
    for _ in range(2):
        assert browser.post(link, {"List-Unsubscribe": "One-Click"}).status_code == 200
    verified.refresh_from_db()
    assert verified.mail_kinds == ""
    for wrong in ("/unsubscribe/x/", link.replace("/unsubscribe/", "/settings/mail/verify/")):
        assert Client().get(wrong).status_code == 404


def test_only_moderators_choose_how_often_what_waits_is_mailed(verified, strict):
    browser = browser_of(verified)
    browser.post("/settings/mail/", {"waiting": "hourly"})
    verified.refresh_from_db()
    assert verified.waiting_mail == "daily"
    assert 'name="waiting"' not in browser.get("/settings/mail/").text

    verified.user_permissions.add(Permission.objects.get(codename="ban_members"))
    assert re.search(r'<option value="daily" selected>', browser.get("/settings/mail/").text)
    for chosen, kept in (("hourly", "hourly"), ("often", "hourly"), ("", "")):
        browser.post("/settings/mail/", {"waiting": chosen, "kinds": ["reply"]})
        verified.refresh_from_db()
        assert verified.waiting_mail == kept

    link = f"/unsubscribe/{unsubscribe_token(verified, WAITING)}/"
    User.objects.update(waiting_mail="now")
    assert "what waits for a moderator" in strict.get(link).text
    assert strict.post(link).status_code == 200
    verified.refresh_from_db()
    assert (verified.waiting_mail, verified.mail_kinds) == ("", "reply")
