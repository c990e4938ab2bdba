"""Apps that send what no app should, and what members of honest ones rely on."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import App, AppRequest, Device, Token
from accounts.oauth.registration import is_address, is_registered
from tests.accounts.test_oauth import address, answer_of, code_for, decide, exchange, refresh

pytestmark = pytest.mark.usefixtures("site_store")

ODD = ('é"', "\\", "\u202e", "\x00", "\n", "<b>", "x" * 5_000)


@pytest.fixture
def app():
    return App.objects.register("Reader", ["https://app.example.org/back"])


@pytest.fixture
def pair(app, as_alice):
    return exchange(app, code_for(app, as_alice)).json()


@pytest.mark.parametrize("odd", ODD, ids=ascii)
@pytest.mark.parametrize(
    "name", ["response_type", "client_id", "redirect_uri", "scope", "code_challenge", "code_challenge_method"]
)
def test_odd_characters_in_a_request_are_refused(app, as_alice, name, odd):
    assert as_alice.get(address(app, **{name: odd})).status_code == 400
    assert decide(as_alice, address(app, **{name: odd})).status_code == 400
    assert not AppRequest.objects.exists()


@pytest.mark.parametrize("odd", ODD, ids=ascii)
@pytest.mark.parametrize("name", ["grant_type", "client_id", "code", "redirect_uri", "code_verifier"])
def test_odd_characters_in_an_exchange_are_refused(app, as_alice, name, odd):
    code = code_for(app, as_alice)

    assert exchange(app, **({"code": code} | {name: odd})).status_code == 400
    assert not Token.objects.exists()


def test_a_parameter_of_an_exchange_stands_once_and_in_the_body(app, as_alice, client):
    code = code_for(app, as_alice)

    assert exchange(app, code, code_verifier=["w" * 43, "v" * 43]).json()["error"] == "invalid_request"
    sent = {"grant_type": "authorization_code", "code": code, "code_verifier": "v" * 43}
    sent |= {"redirect_uri": "https://app.example.org/back"}
    answer = client.post(f"/oauth/token/?client_id={app.client_id}", sent)
    assert answer.json()["error"] == "invalid_request"
    assert exchange(app, code).status_code == 200


@pytest.mark.parametrize(
    "host", ["[::1].evil.example", "[::1]evil.example", "[::1]@evil.example", "127.0.0.1.evil.example", "[::1]:x"]
)
def test_a_host_that_only_begins_like_the_device_itself_is_another(host):
    app = App(addresses="http://[::1]/back\nhttp://127.0.0.1/back")

    assert not is_address(f"http://{host}/back")
    assert not is_registered(app, f"http://{host}/back")


@pytest.mark.parametrize("query", ["?a", "?a=%zz", "?a=[1]", "?a=1&a=2", "?a=b;c", "?", "?=", "?a=%C3%28"])
def test_whatever_query_an_app_registered_the_answer_reaches_it(as_alice, query):
    where = f"https://app.example.org/back{query}"
    assert is_address(where)
    app = App.objects.register("Reader", [where])

    page = decide(as_alice, address(app, redirect_uri=where))

    assert page.status_code == 200
    assert "code=" in page.text.partition('<a class="button" href="https://app.example.org/back?')[2]


def test_what_the_site_does_not_know_is_ignored_and_a_state_is_any_text(app, as_alice):
    where = address(app, state='{"é": "\\"}', claims='{"x": "é"}') + "&resource=1&resource=2"

    answer = answer_of(decide(as_alice, where))

    assert answer["state"] == '{"é": "\\"}'
    assert exchange(app, answer["code"], resource=["1", "2"]).status_code == 200


def test_an_app_of_a_member_who_is_gone_is_told_to_ask_again(app, pair, alice):
    alice.is_active = False
    alice.save()

    assert refresh(app, pair["refresh_token"]).json()["error"] == "invalid_grant"


def test_notices_are_pushed_to_an_app_between_its_renewals(app, pair, alice, monkeypatch):
    token = Token.objects.get()
    Device.objects.create(user=alice, token=token, digest="x", secret="x")
    typed, _plain = Token.objects.issue(alice, "typed", expires_at=timezone.now() + timedelta(hours=1))
    Device.objects.create(user=alice, token=typed, digest="y", secret="y")
    later_on = timezone.now() + timedelta(hours=2)
    monkeypatch.setattr(timezone, "now", lambda: later_on)

    assert Device.objects.get(digest="x").is_logged_in
    assert not Device.objects.get(digest="y").is_logged_in
