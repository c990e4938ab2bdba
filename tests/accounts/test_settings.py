import html
import re
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client

from accounts.models import Token, User
from tests.cast import PASSWORD
from tests.mail_backends import wait_until_sent


def _issue(client, name="laptop"):
    return client.post("/settings/tokens/", {"name": name})


def _shown(text) -> str | None:
    found = re.search(r"avs_[\w-]+", text)
    return found and found[0]


def test_the_address_can_be_changed_and_removed(as_alice, alice):
    response = as_alice.post("/settings/email/", {"email": "new@EXAMPLE.org"}, follow=True)

    alice.refresh_from_db()
    assert alice.email == "new@example.org"
    assert "Your email address has been saved." in response.text
    as_alice.post("/settings/email/", {"email": "", "save": ""})
    alice.refresh_from_db()
    assert alice.email == ""


def test_an_unchanged_address_sends_no_mail(as_alice):
    assert as_alice.post("/settings/email/", {"email": "alice@example.org"}).status_code == 302
    wait_until_sent()

    assert mail.outbox == []


@pytest.mark.parametrize(("language", "subject"), [("", "has been changed"), ("zh-hans", "邮箱")])
@pytest.mark.parametrize("address", ["new@example.org", ""])
def test_the_former_address_is_notified_in_the_members_language(as_alice, alice, language, subject, address):
    User.objects.filter(pk=alice.pk).update(language=language, verified_email=alice.email)

    as_alice.post("/settings/email/", {"email": address})
    wait_until_sent()

    message = mail.outbox[0]
    assert [one.to for one in mail.outbox] == [["alice@example.org"], *([[address]] if address else [])]
    assert subject in message.subject
    assert "alice" in message.body
    assert "new@example.org" not in message.body


def test_saving_the_address_does_not_undo_concurrent_changes(alice):
    from accounts.forms import EmailForm

    form = EmailForm({"email": "new@example.org"}, instance=alice)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    form.save()

    alice.refresh_from_db()
    assert (alice.email, alice.is_active) == ("new@example.org", False)


def test_a_new_token_is_shown_exactly_once(as_alice, alice):
    response = _issue(as_alice)

    plaintext = _shown(response.text)
    assert Token.objects.find(plaintext).user == alice
    assert "no-store" in response["Cache-Control"]
    assert (
        response.status_code == 200
    )  # no redirect: its address would put the token into logs and browser histories
    listed = as_alice.get("/settings/programs/").text
    assert "laptop" in listed
    assert _shown(listed) is None


@pytest.mark.parametrize(
    ("site_url", "address"), [("", "http://testserver"), ("https://news.example", "https://news.example")]
)
def test_a_new_token_comes_with_a_button_to_copy_it_and_a_command_to_try_it(as_alice, settings, site_url, address):
    settings.SITE_URL = site_url
    page = _issue(as_alice).text
    plaintext = _shown(page)

    assert f'curl -H "Authorization: Bearer {plaintext}" {address}/api/me' in html.unescape(page)
    (button,) = re.findall(r"<button[^>]*data-copied[^>]*>", page)
    assert f'value="{plaintext}"' in button
    assert "hidden" in button, "a script shows it where it can copy"


@pytest.mark.parametrize("name", ["", "   ", "x" * 51, "\u3164", "\u200d\u200c", "e" + "\u0301" * 6])
def test_a_token_needs_a_valid_and_visible_name(as_alice, name):
    response = _issue(as_alice, name)

    assert 'id="id_name_error"' in response.text
    assert not Token.objects.exists()


def test_the_twenty_first_token_is_refused_with_an_explanation(as_alice, alice):
    for n in range(20):
        Token.objects.issue(alice, f"token {n}")

    response = _issue(as_alice)

    assert "You have reached the limit of tokens." in response.text
    assert alice.tokens.count() == 20


def test_a_revoked_token_disappears_and_stops_working(as_alice, alice):
    plaintext = _shown(_issue(as_alice).text)

    response = as_alice.post(f"/settings/tokens/{Token.objects.get().pk}/revoke/", follow=True)

    assert "The token “laptop” has been revoked." in response.text
    assert Token.objects.find(plaintext) is None


def test_a_member_sees_and_revokes_only_their_own_tokens(as_alice, alice, mallory):
    token, plaintext = Token.objects.issue(alice, "laptop")
    as_mallory = Client()
    as_mallory.force_login(mallory)

    assert "laptop" not in as_mallory.get("/settings/programs/").text
    assert "have this token" in as_mallory.post(f"/settings/tokens/{token.pk}/revoke/", follow=True).text
    assert Token.objects.find(plaintext).user == alice


def test_submitting_a_token_form_twice_creates_only_the_token_shown(as_alice, alice):
    first, second = [_shown(_issue(as_alice).text) for _ in range(2)]

    assert Token.objects.find(first) is None
    assert Token.objects.find(second).user == alice
    assert alice.tokens.count() == 1


@pytest.mark.parametrize("difference", ["name", "used", "old"])
def test_a_different_token_is_not_replaced(as_alice, alice, difference):
    token, plaintext = Token.objects.issue(alice, "phone" if difference == "name" else "laptop")
    if difference == "used":
        Token.objects.find(plaintext)
    elif difference == "old":
        Token.objects.update(created_at=token.created_at - timedelta(seconds=11))

    _issue(as_alice)

    assert Token.objects.find(plaintext).user == alice
    assert alice.tokens.count() == 2


def test_a_token_gets_the_chosen_scopes_and_lifetime(as_alice, alice):
    as_alice.post("/settings/tokens/", {"name": "reader"})
    as_alice.post("/settings/tokens/", {"name": "voter", "scopes": ["vote"], "days": "30"})

    voter, reader = Token.objects.order_by("-pk")
    assert (reader.scopes, reader.expires_at) == ("read", None)
    assert voter.scopes == "read vote"
    assert voter.expires_at is not None
    assert timedelta(days=29) < voter.expires_at - voter.created_at <= timedelta(days=30, minutes=1)
    page = as_alice.get("/settings/programs/").text
    assert "read, vote" in page


@pytest.mark.parametrize("field", [{"scopes": ["read", "all"]}, {"days": "99999"}])
def test_other_scopes_and_lifetimes_are_refused(as_alice, field):
    assert as_alice.post("/settings/tokens/", {"name": "x"} | field).status_code == 400
    assert not Token.objects.exists()


@pytest.mark.parametrize(("ticked", "left"), [({"revoke_tokens": "on"}, 0), ({}, 1)])
def test_a_change_of_the_password_revokes_tokens_unless_unticked(as_alice, alice, ticked, left):
    Token.objects.issue(alice, "laptop")
    assert re.search(r'name="revoke_tokens"[^>]* checked', as_alice.get("/password/").text)
    new = {
        "old_password": PASSWORD,
        "new_password1": "another long secret",
        "new_password2": "another long secret",
    }

    assert as_alice.post("/password/", new | ticked).status_code == 302

    assert alice.tokens.count() == left


def test_other_browsers_are_logged_out_and_this_one_and_programs_are_not(as_alice, alice):
    other = Client()
    other.force_login(alice)
    _, plaintext = Token.objects.issue(alice, "laptop")

    for _ in range(2):
        said = as_alice.post("/settings/sessions/", follow=True).text

    assert "You are logged out everywhere else." in said
    assert other.get("/settings/")["Location"].startswith("/login/")
    assert as_alice.get("/settings/").status_code == 200
    assert Token.objects.find(plaintext).user == alice


ANCHORS = ("profile", "reading", "hidden", "feed", "mail", "security", "tokens", "invitations", "data", "delete")


def test_the_settings_are_a_list_of_pages_to_whose_entries_old_anchors_lead(as_alice):
    contents = as_alice.get("/settings/").text.partition('class="contents"')[2].partition("</ul>")[0]

    assert all(f'id="settings-{name}"' in contents for name in ANCHORS)
    pages = re.findall(r'<a href="(/settings/\w+/)">', contents)
    assert len(pages) == 7
    for page in pages:
        shown = as_alice.get(page).text
        assert f'<a href="{page}" aria-current="page">' in shown
        assert 'contents-link" href="/settings/"' in shown
