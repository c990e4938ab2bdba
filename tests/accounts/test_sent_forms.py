"""Text typed after the session expired returns to its form after the login, once, and appears nowhere else."""

import re
from html import unescape

import pytest
from django.contrib.sessions.models import Session
from django.core import signing
from django.test import Client

from accounts.models import Token
from accounts.web import sent_forms
from tests.cast import PASSWORD

NOTICE = "This is what you typed before you logged in. It has not been sent yet."
TYPED = '"><script>alert(1)</script>'


def _hidden(response):
    main = response.text[response.text.index("<main") : response.text.index("</main>")]
    fields = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', main)
    return {name: unescape(value) for name, value in fields}


def _log_in(client, fields, name="alice"):
    return client.post("/login/", fields | {"username": name, "password": PASSWORD})


def test_typed_text_returns_once_after_the_login(strict, alice):
    token = strict.get("/login/").cookies["csrftoken"].value
    page = strict.post("/settings/tokens/", {"name": TYPED, "csrfmiddlewaretoken": token})

    assert page.status_code == 403
    assert "no-store" in page["Cache-Control"]
    assert "<script>alert" not in page.text
    assert _hidden(page)["next"] == "/settings/programs/"
    response = _log_in(strict, _hidden(page))
    assert (response.status_code, response["Location"]) == (302, "/settings/programs/")
    first, second = strict.get("/settings/programs/").text, strict.get("/settings/programs/").text
    assert NOTICE in first
    assert 'value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"' in first
    assert "<script>alert" not in first
    assert NOTICE not in second
    assert "alert(1)" not in second
    assert not Token.objects.exists()


def test_typed_text_survives_a_mistyped_password_and_stays_out_of_addresses(client, alice):
    page = client.post("/settings/tokens/", {"name": "my laptop"})

    again = client.post("/login/", _hidden(page) | {"username": "alice", "password": "wrong"})

    assert _hidden(again)["typed"] == _hidden(page)["typed"]
    assert not re.search(r'(?:href|action)="[^"]*typed', again.text)
    _log_in(client, _hidden(again))
    assert 'value="my laptop"' in client.get("/settings/programs/").text


def test_typed_text_creates_no_session_for_a_reader_without_an_account(client, db):
    response = client.post("/settings/tokens/", {"name": "laptop"})

    assert "sessionid" not in response.cookies
    assert not Session.objects.exists()


def test_another_page_leaves_typed_text_for_the_page_it_belongs_to(client, alice):
    _log_in(client, _hidden(client.post("/settings/tokens/", {"name": "my laptop"})))

    assert "my laptop" not in client.get("/password/").text
    assert 'value="my laptop"' in client.get("/settings/programs/").text


def test_passwords_and_unexpected_fields_are_never_carried(client, alice):
    secrets = {"old_password": "o", "new_password1": "n", "name": "alice", "password": "p"}

    for address in ("/password/", "/settings/delete/", "/settings/tokens/1/revoke/"):
        assert client.post(address, secrets)["Location"].startswith("/login/?next=/")
    page = client.post("/settings/email/", {"email": "a@example.org", "password": "p", "csrfmiddlewaretoken": "t"})
    sealed = signing.loads(_hidden(page)["typed"], salt="accounts.typed")
    assert sealed == {"page": "/settings/email/", "fields": {"email": ["a@example.org"]}}


@pytest.mark.parametrize("seal", ["", "x", "a:b:c", "forged", "too old"])
def test_forged_or_expired_text_is_not_shown(client, alice, seal, monkeypatch):
    if seal in ("forged", "too old"):
        salt = "another" if seal == "forged" else "accounts.typed"
        seal = signing.dumps({"page": "/settings/programs/", "fields": {"name": ["planted"]}}, salt=salt)
        monkeypatch.setattr(sent_forms, "_KEPT_SECONDS", -1)

    response = _log_in(client, {"next": "/settings/programs/", "typed": seal})

    assert response["Location"] == "/settings/programs/"
    assert "planted" not in client.get("/settings/programs/").text


def test_text_longer_than_any_form_allows_is_not_carried(client, db):
    assert "typed" in _hidden(client.post("/settings/tokens/", {"name": "x" * sent_forms.MOST_CHARACTERS}))
    assert client.post("/settings/tokens/", {"name": "x" * (sent_forms.MOST_CHARACTERS + 1)}).status_code == 302


@pytest.mark.parametrize("next", ["//evil", "/\\evil", "https:evil", "/\t/evil", "/\x00"])
def test_a_login_page_that_carries_text_never_redirects_to_another_site(client, alice, next):
    page = client.post("/settings/tokens/", {"name": "laptop", "next": next})

    assert _hidden(page)["next"] == "/settings/programs/"


@pytest.mark.parametrize("address", ["/settings/tokens/", "/settings/tokens/1/revoke/", "/logout/"])
def test_post_only_addresses_are_not_return_addresses(client, alice, address):
    assert _log_in(client, {"next": address})["Location"] == "/"
    assert _log_in(Client(), {"next": address.replace("t", "%74", 1)})["Location"] == "/"
