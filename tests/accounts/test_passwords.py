import re

import pytest
from django.contrib.auth import get_user
from django.core import mail
from django.test import Client

from accounts.models import User
from tests.cast import PASSWORD
from tests.mail_backends import wait_until_sent

NEW = "staple battery horse correct"


def _change(client, old=PASSWORD, new=NEW, again=NEW, **fields):
    values = {"old_password": old, "new_password1": new, "new_password2": again}
    return client.post("/password/", {**values, **fields}, follow=True)


def _mails(client, email="alice@example.org", **extra):
    response = client.post("/password/reset/", {"email": email}, **extra)
    wait_until_sent()
    assert response["Location"] == "/password/reset/sent/"
    return mail.outbox


def _link(text):
    return re.search(r"https?://[^/]+(/password/reset/\S+/)", text)[1]


def _choose(client, link, new=NEW):
    page = client.get(link, follow=True)
    return client.post(page.request["PATH_INFO"], {"new_password1": new, "new_password2": new}, follow=True)


def test_a_new_password_keeps_this_session_and_ends_the_others(as_alice, alice):
    elsewhere = Client()
    elsewhere.force_login(alice)

    response = _change(as_alice)

    assert response.redirect_chain == [("/settings/security/", 302)]
    assert "Your password has been changed." in response.text
    assert get_user(as_alice) == alice
    assert not get_user(elsewhere).is_authenticated
    assert Client().login(username="alice", password=NEW)


def test_a_new_password_sent_twice_is_changed_once_and_confirmed(as_alice, alice):
    second = Client()
    second.cookies["sessionid"] = as_alice.cookies["sessionid"].value
    _change(as_alice)

    # The first form changed the session key, so the second arrives without a valid session.
    response = _change(second, username="alice")

    assert response.redirect_chain == [("/settings/security/", 302)]
    assert "Your password has been changed." in response.text
    assert get_user(second) == get_user(as_alice) == alice


@pytest.mark.parametrize(
    "fields",
    [{}, {"username": "alice", "new": "wrong", "again": "wrong"}, {"username": "alice", "again": "other"}],
    ids=str,
)
def test_the_form_for_a_new_password_logs_in_no_visitor_without_the_password(client, alice, fields):
    response = _change(client, **{"new": PASSWORD, "again": PASSWORD} | fields)

    assert response.redirect_chain == [("/login/?next=/password/", 302)]
    assert not get_user(client).is_authenticated


@pytest.mark.parametrize(
    ("old", "new", "again"), [("wrong", NEW, NEW), (PASSWORD, NEW, "other"), (PASSWORD, "12345678", "12345678")]
)
def test_a_password_is_not_changed_without_the_old_one_or_to_a_weak_one(as_alice, alice, old, new, again):
    response = _change(as_alice, old, new, again)

    alice.refresh_from_db()
    assert 'class="errors"' in response.text
    assert alice.check_password(PASSWORD)


def test_a_link_from_a_mail_leads_to_a_new_password(client, alice):
    [message] = _mails(client)

    assert message.to == ["alice@example.org"]
    assert "alice" in message.body
    assert "&" not in message.body
    response = _choose(client, _link(message.body))
    assert response.redirect_chain[-1] == ("/login/", 302)
    assert "Log in with the new one." in response.text
    assert client.login(username="alice", password=NEW)


def test_the_response_is_the_same_whether_or_not_an_account_exists(client, alice):
    User.objects.create_user("gone", "gone@example.org", PASSWORD, is_active=False)
    answers = []
    for email in ("alice@example.org", "nobody@example.org", "gone@example.org"):
        response = client.post("/password/reset/", {"email": email}, follow=True)
        answers.append((response.redirect_chain, re.sub(r"\s+", " ", response.text)))
    wait_until_sent()

    assert answers[0] == answers[1] == answers[2]
    assert [message.to for message in mail.outbox] == [["alice@example.org"]]


def test_the_mail_is_sent_after_the_response(client, alice):
    response = client.post("/password/reset/", {"email": "alice@example.org"})

    assert (response.status_code, mail.outbox) == (302, [])
    wait_until_sent()
    assert [message.to for message in mail.outbox] == [["alice@example.org"]]


def test_a_failing_mail_server_does_not_affect_the_visitor(client, alice, settings, caplog):
    settings.EMAIL_BACKEND = "tests.mail_backends.Broken"

    assert _mails(client) == []
    assert "send_reset_links will be tried again: ConnectionRefusedError" in caplog.text


def test_accounts_without_a_usable_password_get_no_link(client, db):
    User.objects.bulk_create_imported(["dave"])
    User.objects.update(email="dave@example.org")

    assert _mails(client, "dave@example.org") == []


def test_each_account_of_an_address_has_a_link_in_one_mail_up_to_a_limit(client, alice):
    for n in range(12):
        User.objects.create_user(f"sock{n}", "alice@example.org", PASSWORD)

    [message] = _mails(client)

    found = re.findall(r"Choose a new password for (\w+)\n(\S+)", message.body)
    assert [name for name, _link in found] == ["alice", *(f"sock{n}" for n in range(9))]
    assert len({link for _name, link in found}) == 10


def test_links_use_the_public_address_whatever_the_requested_host(client, alice, settings):
    settings.SITE_URL = "https://news.example.org"
    settings.ALLOWED_HOSTS = ["*"]

    [message] = _mails(client, headers={"host": "evil.example"})

    assert "https://news.example.org/password/reset/" in message.body
    assert "evil" not in message.body


def test_a_link_works_once(client, alice):
    [message] = _mails(client)
    _choose(client, _link(message.body))

    page = Client().get(_link(message.body), follow=True)

    assert "This link is not valid" in page.text
    assert "<form" not in re.search(r"<main.*</main>", page.text, re.DOTALL)[0]


def test_a_password_sent_twice_with_a_link_is_set_once_and_confirmed(client, alice):
    [message] = _mails(client)
    _choose(client, _link(message.body))

    address = _link(message.body).rsplit("/", 2)[0] + "/set-password/"
    again, other = [
        client.post(address, {"new_password1": new, "new_password2": new}, follow=True) for new in (NEW, PASSWORD)
    ]

    assert again.redirect_chain == [("/login/", 302)]
    assert "Log in with the new one." in again.text
    assert "This link is not valid" in other.text


def test_a_link_tells_no_one_whether_a_guessed_password_is_right(client, alice):
    [message] = _mails(client)
    address = _link(message.body).rsplit("/", 2)[0] + "/set-password/"

    page = Client().post(address, {"new_password1": PASSWORD, "new_password2": PASSWORD})

    assert "This link is not valid" in page.text


def test_a_link_is_invalid_after_the_address_changes(client, alice):
    [message] = _mails(client)
    alice.email = "new@example.org"
    alice.save()

    assert "This link is not valid" in client.get(_link(message.body), follow=True).text


@pytest.mark.django_db
@pytest.mark.parametrize("link", ["/password/reset/MQ/abc-def/", "/password/reset/x/set-password/"])
def test_a_forged_link_changes_nothing(client, link):
    assert "This link is not valid" in client.get(link, follow=True).text


def test_the_token_of_a_link_is_removed_from_the_address_at_once(client, alice):
    [message] = _mails(client)

    response = client.get(_link(message.body))

    assert response["Location"].endswith("/set-password/")
    page = client.get(response["Location"])
    assert "no-store" in page["Cache-Control"]
    assert "At least 8 characters" in page.text


def test_a_new_password_by_mail_ends_every_session(client, as_alice, alice):
    [message] = _mails(client)

    _choose(client, _link(message.body))

    assert not get_user(as_alice).is_authenticated


def test_a_password_may_start_and_end_with_spaces(client, alice):
    alice.set_password("  a long secret ")
    alice.save()

    assert not client.login(username="alice", password="a long secret")
    for password, status in (("a long secret", 200), ("  a long secret ", 302)):
        assert client.post("/login/", {"username": "alice", "password": password}).status_code == status
