"""The second step of a login: codes of an app, recovery codes, and turning it on and off."""

import re
from collections.abc import Iterator

import pyotp
import pytest
import time_machine
from django.contrib.auth import get_user
from django.core import mail
from django.test import Client

from accounts.models import Authenticator, User
from accounts.sign_in import codes, second_factor
from tests.cast import PASSWORD
from tests.mail_backends import wait_until_sent

NOW = 1_800_000_000.0  # the beginning of a step of 30 seconds
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


def code(at: float = NOW) -> str:
    return pyotp.TOTP(SECRET).at(int(at))


@pytest.fixture
def protected(alice) -> list[str]:
    """Alice with an authenticator app, set up a day ago. Returns her recovery codes."""
    assert codes.save_secret(alice, SECRET, code())
    Authenticator.objects.update(last_step=0)
    return second_factor.turn_on(alice)


def log_in(client: Client, **more: str):
    return client.post("/login/", {"username": "alice", "password": PASSWORD, **more})


def enter(client: Client, typed: str):
    return client.post("/login/second/", {"code": typed})


def test_a_changed_password_that_is_sent_again_without_a_session_leads_to_the_second_step(client, protected):
    form = {"username": "alice", "old_password": "any", "new_password1": PASSWORD, "new_password2": PASSWORD}
    response = client.post("/password/", form)
    assert response["Location"] == "/login/second/"
    assert not get_user(client).is_authenticated
    assert enter(client, code())["Location"] == "/settings/security/"
    assert get_user(client).is_authenticated


def test_a_password_alone_does_not_log_in_and_the_code_does(client, protected, alice):
    response = log_in(client, next="/hot/")

    assert response["Location"] == "/login/second/"
    assert not get_user(client).is_authenticated
    assert enter(client, code())["Location"] == "/hot/"
    assert get_user(client) == alice


@pytest.mark.parametrize(
    ("seconds", "is_accepted"),
    [(-31, False), (-30, True), (-1, True), (0, True), (29, True), (59, True), (60, False)],
)
def test_a_code_is_valid_in_its_step_and_the_ones_beside_it(client, protected, clock, seconds, is_accepted):
    log_in(client)
    shown = code()
    clock.move_to(NOW + seconds, tick=False)

    assert (enter(client, shown).status_code == 302) is is_accepted


def test_a_code_is_accepted_once_and_no_earlier_one_after_it(protected, clock):
    log_in(first := Client())
    log_in(second := Client())
    clock.move_to(NOW + 30, tick=False)

    assert enter(first, code(NOW + 30)).status_code == 302
    assert "wrong, expired or used" in enter(second, code(NOW + 30)).text
    assert "wrong, expired or used" in enter(second, code()).text


@pytest.mark.parametrize("typed", ["", "12345", "1234567", "١٢٣٤٥٦", "000 000", "x" * 41, "\x00"])
def test_what_is_no_code_is_refused_in_words(client, protected, typed):
    log_in(client)

    response = enter(client, typed)

    assert 'id="id_code_error"' in response.text
    assert not get_user(client).is_authenticated


def test_each_recovery_code_logs_in_once_however_it_is_typed(protected):
    for one in (protected[0], protected[1].upper().replace("-", " "), protected[2].replace("-", "")):
        log_in(browser := Client())
        assert enter(browser, one).status_code == 302
        log_in(again := Client())
        assert "wrong, expired or used" in enter(again, one).text


def test_a_second_step_that_takes_too_long_begins_again(client, protected, clock):
    log_in(client)
    clock.move_to(NOW + 601, tick=False)

    assert enter(client, code(NOW + 601))["Location"] == "/login/"
    assert not get_user(client).is_authenticated


def test_a_new_password_ends_second_steps_that_have_begun(client, protected, alice):
    log_in(client)
    alice.set_password("another long secret")
    alice.save()

    assert enter(client, code())["Location"] == "/login/"


def test_the_second_step_alone_leads_nowhere(client, protected):
    assert enter(client, code())["Location"] == "/login/"
    assert client.get("/login/second/")["Location"] == "/login/"


def test_a_fresh_member_sets_up_an_app_and_sees_the_codes_once(as_alice, alice):
    User.objects.update(verified_email=alice.email)
    page = as_alice.get("/settings/security/app/").text
    secret = re.search(r'id="key"[^>]* value="([A-Z2-7 ]+)"', page)[1].replace(" ", "")
    assert "<svg" in page

    wrong = as_alice.post("/settings/security/app/", {"code": "000000"})
    done = as_alice.post("/settings/security/app/", {"code": pyotp.TOTP(secret).at(int(NOW))})
    wait_until_sent()

    assert wrong.status_code == 400
    assert secret in wrong.text.replace(" ", "")
    shown = re.findall(r"\b(?:[a-z2-7]{4}-){3}[a-z2-7]{4}\b", done.text)
    assert len(set(shown)) == 10
    assert "no-store" in done["Cache-Control"]
    assert User.objects.get(pk=alice.pk).second_factor
    assert [message.to for message in mail.outbox] == [["alice@example.org"]]
    assert secret not in Authenticator.objects.get().secret
    assert not any(one in as_alice.get("/settings/security/").text for one in shown)


def test_a_database_alone_gives_no_code_away_and_another_key_leaves_recovery_codes(client, protected, settings):
    settings.SECRET_KEY = "another key of at least thirty-two characters"
    log_in(client)

    assert "do not work any more" in client.get("/login/second/").text
    assert enter(client, code()).status_code == 200
    assert enter(client, protected[0]).status_code == 302


def test_turning_it_off_removes_the_app_and_the_codes(as_alice, protected, alice):
    as_alice.post("/settings/security/second-step/off/")

    alice.refresh_from_db()
    assert (alice.second_factor, alice.recovery_codes.count()) == (False, 0)
    assert not Authenticator.objects.exists()
    assert log_in(Client())["Location"] == "/"


def test_new_codes_replace_the_former_ones(as_alice, protected):
    page = as_alice.post("/settings/security/codes/").text
    (new, *_rest) = re.findall(r"\b(?:[a-z2-7]{4}-){3}[a-z2-7]{4}\b", page)

    for one, status in ((protected[0], 200), (new, 302)):
        log_in(browser := Client())
        assert enter(browser, one).status_code == status


@pytest.mark.parametrize(("demanded", "is_staff"), [("all", False), ("moderators", True)])
def test_a_demanded_factor_is_set_up_in_the_login(client, alice, settings, demanded, is_staff):
    User.objects.filter(pk=alice.pk).update(is_staff=is_staff)
    client.force_login(alice)
    settings.SECOND_FACTOR = demanded
    assert client.get("/settings/")["Location"].startswith("/login/"), "sessions from before do not count"

    log_in(client, next="/settings/")
    page = client.get("/login/second/").text
    secret = re.search(r'id="key"[^>]* value="([A-Z2-7 ]+)"', page)[1].replace(" ", "")
    assert "<svg" in page
    done = enter(client, pyotp.TOTP(secret).at(int(NOW)))

    assert 'href="/settings/"' in done.text
    assert client.get("/settings/").status_code == 200
    assert "demands a second step" in client.post("/settings/security/second-step/off/", follow=True).text
    assert "demands a second step" in client.post("/settings/security/app/remove/", follow=True).text
    assert User.objects.get(pk=alice.pk).second_factor


@pytest.mark.parametrize("demanded", ["off", "offered", "moderators"])
def test_no_factor_is_demanded_of_other_members(client, alice, settings, demanded):
    settings.SECOND_FACTOR = demanded

    assert log_in(client)["Location"] == "/"
    assert client.get("/settings/").status_code == 200
    page = client.get("/settings/security/").text
    assert ("Set up an authenticator app" in page) is (demanded != "off")
    assert client.get("/settings/security/app/").status_code == (302 if demanded == "off" else 200)


def test_what_is_known_before_the_password_is_right_is_the_same(client, protected, bob):
    pages = [
        client.post("/login/", {"username": name, "password": "wrong"}).text for name in ("alice", "bob", "no")
    ]
    varying = re.compile(r'value="(alice|bob|no|\w{64})"')

    assert len({varying.sub("", page) for page in pages}) == 1


def test_the_login_of_the_administration_takes_the_second_step(client, protected, alice):
    User.objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True)

    response = client.post(
        "/admin/login/?next=/admin/", {"username": "alice", "password": PASSWORD, "next": "/admin/"}
    )

    assert not get_user(client).is_authenticated
    assert response["Location"] == "/login/?next=/admin/"


def test_deleting_the_account_removes_every_factor(as_alice, protected, alice):
    as_alice.post("/settings/delete/", {"name": "alice"})

    assert not Authenticator.objects.exists()
    assert alice.recovery_codes.count() == 0
