"""Logging in from apps: the token, the second step, and what is refused, limited and logged as on the page."""

import time

import pyotp
import pytest
from django.test import Client
from django.urls import resolve

from accounts.forms import LoginForm
from accounts.models import Token
from accounts.passwords import HashesBusy
from accounts.sign_in import codes, second_factor
from articles.domain.errors import LimitReached
from articles.domain.limits import Rate
from articles.web.limits import is_slow
from extras.lemmy.tests.client import Lemmy, log_in, said_in
from tests.cast import password_of
from tests.factories import browser_of
from tests.internals import failing

pytestmark = pytest.mark.usefixtures("lemmy")


def test_a_login_gives_a_token_named_after_the_app_which_settings_show_and_revoke(site_store, alice):
    said = log_in(Lemmy(**{"user-agent": "Jerboa/0.0.80 (Android 15)"}))

    (token,) = Token.objects.filter(user=alice)
    assert said.keys() == {"jwt", "registration_created", "verify_email_sent"}
    assert (token.name, token.scopes) == ("Jerboa", "read vote post")
    assert round((token.expires_at - token.created_at).total_seconds()) == 365 * 86400
    assert "Jerboa" in browser_of(alice).get("/settings/programs/").text
    browser_of(alice).post(f"/settings/tokens/{token.pk}/revoke/")
    assert Lemmy(authorization=f"Bearer {said['jwt']}").get("user/validate_auth") == "not_logged_in"


def test_an_app_in_a_page_of_another_origin_can_read_what_the_login_says(site_store, alice):
    app = Lemmy(origin="https://vger.app", **{"sec-fetch-site": "cross-site"})

    for password, status in ((password_of("alice"), 200), ("wrong", 401)):
        answer = app.send("POST", "user/login", {"username_or_email": "alice", "password": password})
        assert (answer.status_code, answer["Access-Control-Allow-Origin"]) == (status, "*")
    preflight = {"access-control-request-method": "GET", "access-control-request-headers": "authorization"}
    answer = app.browser.options("/api/v3/site", headers=app.headers | preflight)
    assert (answer.status_code, answer["Access-Control-Allow-Origin"]) == (204, "*")


def test_logging_out_revokes_the_token(site_store, alice):
    assert Lemmy(alice).post("user/logout") == {"success": True}
    assert not Token.objects.filter(user=alice).exists()


def test_a_wrong_name_and_a_wrong_password_are_refused_alike_and_logged(site_store, alice, caplog):
    assert log_in(Lemmy(), "alice", "wrong") == log_in(Lemmy(), "nobody", "wrong") == "incorrect_login"
    assert "failed login: client=127.0.0.1 name='alice'" in caplog.text


def test_a_login_hashes_in_the_threads_of_passwords_and_waits_for_its_turn(site_store, alice):
    assert is_slow(resolve("/api/v3/user/login").view_name)
    with failing(LoginForm, "is_valid", HashesBusy()):
        said = Lemmy().send("POST", "user/login", {"username_or_email": "alice", "password": "x"})

    assert (said.status_code, said_in(said), said["Retry-After"]) == (429, "rate_limit_error", "2")


def test_guesses_take_the_limits_of_the_login_page(site_store, alice, limits):
    limits(guesses=Rate(3, 86_400))
    guesses = [log_in(Lemmy(browser=Client(REMOTE_ADDR=f"198.{n}.100.7")), password="wrong") for n in range(4)]

    assert guesses == ["incorrect_login"] * 3 + ["rate_limit_error"]
    form = {"username": "alice", "password": password_of("alice")}
    assert browser_of().post("/login/", form, REMOTE_ADDR="198.9.100.7").status_code == 429


@pytest.fixture
def secret(alice) -> str:
    """The secret of alice's authenticator app."""
    made = codes.new_secret()
    assert codes.save_secret(alice, made, pyotp.TOTP(made).at(time.time() - 30))
    second_factor.turn_on(alice)
    return made


def test_a_second_step_takes_a_code(site_store, secret, caplog):
    code = pyotp.TOTP(secret).now()

    assert log_in(Lemmy()) == "missing_totp_token"
    assert log_in(Lemmy(), totp_2fa_token="000000") == "incorrect_totp_token"
    assert "failed login: client=127.0.0.1 name='alice'" in caplog.text
    assert "jwt" in log_in(Lemmy(), totp_2fa_token=code)
    assert log_in(Lemmy(), totp_2fa_token=code) == "incorrect_totp_token", "each code is accepted once"


def test_codes_take_the_limits_of_the_second_step(site_store, alice, secret, limits_clock):
    apps = [Lemmy(browser=Client(REMOTE_ADDR=f"198.{n}.100.7")) for n in range(11)]
    said = [log_in(app, totp_2fa_token=f"{n:06}") for n, app in enumerate(apps)]

    assert said == ["incorrect_totp_token"] * 10 + ["rate_limit_error"]
    with pytest.raises(LimitReached):
        codes.accept(alice, "000000")


def test_a_site_without_passwords_refuses_them_and_takes_tokens(site_store, alice, settings):
    settings.PASSWORDS = False

    assert log_in(Lemmy()) == "incorrect_login"
    assert Lemmy(alice).get("user/validate_auth") == {"success": True}


def test_an_account_with_a_passkey_alone_is_refused(site_store, alice):
    alice.set_unusable_password()
    alice.save()

    assert log_in(Lemmy()) == "incorrect_login"


def test_members_who_have_to_set_up_a_second_step_do_that_first(site_store, alice, settings):
    settings.SECOND_FACTOR = "all"

    assert log_in(Lemmy()) == "missing_totp_secret"
    assert not Token.objects.exists()


def test_an_account_that_waits_for_approval_is_told_so(site_store, settings):
    settings.SIGN_UP = "approval"
    password = "a very long secret"
    browser_of().post("/signup/", {"username": "dave", "password1": password, "password2": password})

    assert log_in(Lemmy(), "dave", password) == "registration_application_is_pending"
    assert log_in(Lemmy(), "dave", "wrong") == "incorrect_login"
