"""What changes an account, or carries it away, takes a fresh proof of who uses the session."""

import re

import pytest
from django.contrib.auth.hashers import make_password
from django.test import Client

from accounts.models import Token, User
from tests.cast import PASSWORD

ADDRESSES = {
    "/settings/email/": ("/settings/email/", {"email": "new@example.org"}),
    "/settings/tokens/": ("/settings/programs/", {"name": "laptop"}),
    "/settings/delete/": ("/settings/delete/", {"name": "alice"}),
    "/settings/sessions/": ("/settings/security/", {}),
    "/settings/sessions/x/end/": ("/settings/security/", {}),
}


@pytest.fixture
def long_ago(as_alice) -> Client:
    """A browser in which Alice logged in more than ten minutes ago."""
    session = as_alice.session
    session["proven"] -= 601
    session.save()
    return as_alice


def _fields(page) -> dict[str, str]:
    main = page.text.partition("<main")[2].partition("</main>")[0]
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', main))


@pytest.mark.parametrize("address", ADDRESSES)
def test_an_open_session_alone_changes_nothing(long_ago, alice, address):
    response = long_ago.post(address, ADDRESSES[address][1], follow=True)

    assert 'action="/login/confirm/"' in response.text
    alice.refresh_from_db()
    assert (alice.email, alice.left_at) == ("alice@example.org", None)
    assert not Token.objects.exists()


def test_an_open_session_alone_takes_no_data_away(long_ago):
    assert long_ago.get("/settings/data/")["Location"] == "/login/confirm/?next=/settings/data/"


def test_the_password_leads_back_to_the_form_as_it_was_typed(long_ago, alice):
    asked = long_ago.post("/settings/email/", {"email": "new@example.org"})

    back = long_ago.post("/login/confirm/", _fields(asked) | {"password": PASSWORD}, follow=True)

    assert asked.status_code == 403
    assert back.redirect_chain == [("/settings/email/", 302)]
    assert 'value="new@example.org"' in back.text
    assert long_ago.post("/settings/email/", {"email": "new@example.org"}).status_code == 302
    alice.refresh_from_db()
    assert alice.email == "new@example.org"


@pytest.mark.parametrize("password", ["", "wrong", PASSWORD.upper()])
def test_a_wrong_password_proves_nothing(long_ago, password):
    response = long_ago.post("/login/confirm/", {"password": password, "next": "/settings/data/"})

    assert 'id="id_password_error"' in response.text
    assert long_ago.get("/settings/data/").status_code == 302


def test_a_member_without_a_password_sets_one_after_a_fresh_proof(as_alice, alice, long_ago):
    alice.set_unusable_password()
    alice.save()
    as_alice.force_login(alice)
    new = {"new_password1": "another long secret", "new_password2": "another long secret"}

    assert "old_password" not in as_alice.get("/password/").text
    assert as_alice.post("/password/", new).status_code == 302

    assert User.objects.get(pk=alice.pk).check_password("another long secret")
    assert "another long secret" not in as_alice.get("/settings/security/").text


def test_without_a_fresh_proof_a_member_without_a_password_sets_none(long_ago, alice):
    User.objects.filter(pk=alice.pk).update(password=make_password(None))
    session = long_ago.session
    session["_auth_user_hash"] = User.objects.get(pk=alice.pk).get_session_auth_hash()
    session.save()

    response = long_ago.post("/password/", {"new_password1": "a long secret", "new_password2": "a long secret"})

    assert response["Location"] == "/login/confirm/?next=/password/"
