"""Passkeys: added, used as every kind of proof, and refused if anything about them is wrong."""

import json

import pytest
import webauthn
from django.contrib.auth import get_user
from django.core import mail
from django.test import Client, override_settings
from hypothesis import given, settings, strategies as st

from accounts.models import Passkey, User
from accounts.sign_in import second_factor
from accounts.sign_in.passkeys import LONGEST_RESPONSE
from tests.authenticator import BACKED_UP, ELIGIBLE, PRESENT, VERIFIED, Authenticator
from tests.cast import PASSWORD
from tests.mail_backends import wait_until_sent


def options(client: Client, purpose: str):
    return json.loads(client.post("/login/passkey/options/", {"for": purpose}).text)


def add(client: Client, device: Authenticator, name: str = "phone", **wrong):
    answer = device.create(options(client, "add"), **wrong)
    return client.post("/settings/security/passkeys/", {"credential": answer, "name": name}, follow=True)


def log_in(client: Client, device: Authenticator, **wrong):
    answer = device.use(options(client, "sign-in"), **wrong)
    return client.post("/login/passkey/", {"credential": answer, "next": "/hot/"})


@pytest.fixture
def phone(as_alice) -> Authenticator:
    """An authenticator with a passkey of Alice's."""
    device = Authenticator()
    add(as_alice, device)
    return device


def test_a_passkey_logs_in_without_a_name_and_without_a_second_step(client, phone, alice):
    second_factor.turn_on(alice)

    response = log_in(client, phone)

    assert response["Location"] == "/hot/"
    assert get_user(client) == alice
    assert Passkey.objects.get().last_used_at is not None


def test_the_member_is_told_by_mail_of_a_new_passkey_and_of_a_removed_one(as_alice, alice):
    User.objects.update(verified_email=alice.email)
    add(as_alice, Authenticator())
    as_alice.post(f"/settings/security/passkeys/{Passkey.objects.get().pk}/remove/")
    wait_until_sent()

    assert "passkey has been added" in mail.outbox[0].body
    assert "passkey has been removed" in mail.outbox[1].body


def test_a_new_passkey_is_proposed_to_be_called_like_the_browser(as_alice):
    agent = "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/140.0 Mobile Safari/537.36"

    page = as_alice.get("/settings/security/", headers={"User-Agent": agent}).text

    assert 'name="name" value="Chrome · Android"' in page


WRONG = {
    "another origin": {"origin": "https://evil.example"},
    "another port": {"origin": "http://testserver:8080"},
    "another host": {"host": "evil.example"},
    "no verification of the user": {"flags": PRESENT},
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_passkey_is_refused_for(client, phone, wrong):
    response = log_in(client, phone, **WRONG[wrong])

    assert response.status_code == 400
    assert "The passkey was not accepted." in response.text
    assert not get_user(client).is_authenticated


@pytest.mark.parametrize("wrong", ["another origin", "another port", "no verification of the user"])
def test_a_new_passkey_is_refused_for(as_alice, wrong):
    page = add(as_alice, Authenticator(), **WRONG[wrong])

    assert "The passkey was not accepted." in page.text
    assert not Passkey.objects.exists()


ALONE, SYNCED, ON_ONE, OTHER = VERIFIED, VERIFIED | ELIGIBLE | BACKED_UP, VERIFIED | ELIGIBLE, VERIFIED | BACKED_UP
"""Flags of a passkey of one device, of one that several share, of one that they could, and of none."""

IN, COPY, INVALID = "logged in", "A copy of this passkey seems to be in use", "The passkey was not accepted."


@pytest.mark.deep
@pytest.mark.parametrize(
    ("added", "used", "before", "count", "outcome"),
    [
        *((ALONE, ALONE, *counts, IN) for counts in ((0, 0), (0, 1), (8, 9), (8, 2**32 - 1))),
        *((ALONE, ALONE, *counts, COPY) for counts in ((8, 8), (8, 7), (8, 3), (8, 0), (2**32 - 1, 2**32 - 1))),
        *(
            (added, used, *counts, IN)
            for added in (SYNCED, ON_ONE)
            for used in (SYNCED, ON_ONE)
            for counts in ((8, 3), (8, 8), (8, 0), (8, 9), (0, 0))
        ),
        *((ALONE, used, *counts, COPY) for used in (SYNCED, ON_ONE) for counts in ((8, 3), (8, 9), (0, 0))),
        *((added, ALONE, *counts, COPY) for added in (SYNCED, ON_ONE) for counts in ((8, 3), (8, 9), (0, 0))),
        *((added, OTHER, 8, 9, INVALID) for added in (ALONE, SYNCED, ON_ONE)),
        *((None, used, 8, 3, IN) for used in (SYNCED, ON_ONE)),
        *((None, ALONE, 8, count, outcome) for count, outcome in ((9, IN), (8, COPY), (3, COPY), (0, COPY))),
    ],
)
def test_a_counter_betrays_a_copy_unless_devices_share_the_passkey(as_alice, added, used, before, count, outcome):
    device = Authenticator()
    add(as_alice, device, flags=added or ALONE)
    kept = Passkey.objects.all()
    kept.update(sign_count=before, **({"is_synced": None} if added is None else {}))
    device.count = count - 1

    response = log_in(client := Client(), device, flags=used)

    assert get_user(client).is_authenticated == (outcome == IN)
    assert outcome == IN or outcome in response.text
    assert kept.get().sign_count == (count if outcome == IN else before)
    if outcome == IN:
        assert kept.get().is_synced == bool(used & ELIGIBLE)
        device.count = count - 1
        again = IN if used & ELIGIBLE or count == 0 else COPY
        log_in(client := Client(), device, flags=used)
        assert get_user(client).is_authenticated == (again == IN)


def test_of_two_uses_at_once_with_the_same_count_one_is_refused(client, phone, monkeypatch):
    copy, verified = Client(), webauthn.verify_authentication_response
    answer = phone.use(options(copy, "sign-in"))
    phone.count -= 1

    def meanwhile(**facts):
        monkeypatch.setattr(webauthn, "verify_authentication_response", verified)
        assert copy.post("/login/passkey/", {"credential": answer}).status_code == 302
        return verified(**facts)

    monkeypatch.setattr(webauthn, "verify_authentication_response", meanwhile)
    assert COPY in log_in(client, phone).text
    assert not get_user(client).is_authenticated


def test_a_passkey_that_is_removed_during_its_use_logs_no_one_in(client, phone, monkeypatch):
    verified = webauthn.verify_authentication_response

    def meanwhile(**facts):
        Passkey.objects.all().delete()
        return verified(**facts)

    monkeypatch.setattr(webauthn, "verify_authentication_response", meanwhile)
    assert INVALID in log_in(client, phone).text
    assert not get_user(client).is_authenticated


def test_an_answer_is_accepted_once_and_only_for_its_purpose_and_session(client, phone, as_alice):
    answer = phone.use(options(client, "sign-in"))
    assert Client().post("/login/passkey/", {"credential": answer}).status_code == 400
    assert client.post("/login/passkey/", {"credential": answer}).status_code == 302
    client.logout()
    assert client.post("/login/passkey/", {"credential": answer}).status_code == 400

    confirming = phone.use(options(as_alice, "confirm"))
    assert as_alice.post("/login/passkey/", {"credential": confirming}).status_code == 400


def test_an_unknown_passkey_and_those_of_closed_accounts_log_no_one_in(client, phone, alice):
    assert log_in(client, Authenticator(b"unknown")).status_code == 400
    User.objects.filter(pk=alice.pk).update(is_active=False)

    assert log_in(client, phone).status_code == 400
    assert not get_user(client).is_authenticated


def test_a_passkey_of_another_member_proves_nothing(client, phone, bob):
    browser = Client()
    browser.force_login(bob)
    response = browser.post("/login/confirm/passkey/", {"credential": phone.use(options(browser, "confirm"))})
    second_factor.turn_on(bob)
    client.post("/login/", {"username": "bob", "password": PASSWORD})

    assert response.status_code == 400
    answer = phone.use(options(client, "second-step"))
    assert client.post("/login/second/", {"credential": answer}).status_code == 200
    assert not get_user(client).is_authenticated


def test_a_passkey_is_the_second_step_after_a_password(client, phone, as_alice, alice):
    page = as_alice.post("/settings/security/second-step/on/").text
    assert "Your recovery codes" in page

    client.post("/login/", {"username": "alice", "password": PASSWORD, "next": "/hot/"})
    assert not get_user(client).is_authenticated
    response = client.post("/login/second/", {"credential": phone.use(options(client, "second-step"))})

    assert response["Location"] == "/hot/"
    assert get_user(client) == alice


def test_a_passkey_is_a_fresh_proof(phone, as_alice):
    session = as_alice.session
    session["proven"] = 0
    session.save()
    assert as_alice.get("/settings/delete/").status_code == 302

    answer = phone.use(options(as_alice, "confirm"))
    response = as_alice.post("/login/confirm/passkey/", {"credential": answer, "next": "/settings/delete/"})

    assert response["Location"] == "/settings/delete/"
    assert as_alice.get("/settings/delete/").status_code == 200


def test_the_last_way_in_stays(phone, as_alice, alice):
    alice.set_unusable_password()
    alice.save()
    as_alice.force_login(alice)
    own = Passkey.objects.get()

    page = as_alice.post(f"/settings/security/passkeys/{own.pk}/remove/", follow=True).text

    assert "you could not log in any more" in page
    add(as_alice, Authenticator(b"another one"), "laptop")
    as_alice.post(f"/settings/security/passkeys/{own.pk}/remove/")
    assert [one.name for one in alice.passkeys.all()] == ["laptop"]


def test_members_name_their_passkeys_and_touch_no_others(phone, as_alice, bob):
    own, other = Passkey.objects.get(), Client()
    other.force_login(bob)
    for browser, name in ((as_alice, "tablet"), (other, "mine")):
        browser.post(f"/settings/security/passkeys/{own.pk}/", {"name": name})
    other.post(f"/settings/security/passkeys/{own.pk}/remove/")

    assert Passkey.objects.get().name == "tablet"
    assert 'id="security-passkeys"' in as_alice.get("/settings/security/").text


def test_a_passkey_is_added_once_and_twenty_at_most(phone, as_alice, alice):
    assert "The passkey was not accepted." in add(as_alice, phone).text
    for n in range(19):
        Passkey.objects.create(user=alice, name="x", credential_id=f"{n:04}", public_key="")

    assert "You have reached the limit of passkeys." in add(as_alice, Authenticator(b"one more")).text
    assert alice.passkeys.count() == 20


@pytest.mark.parametrize("purpose", ["", "x", "add", "confirm", "second-step"])
def test_a_ceremony_without_its_member_does_not_begin(client, db, purpose):
    assert client.post("/login/passkey/options/", {"for": purpose}).status_code == 404
    assert client.get("/login/passkey/options/").status_code == 405


HOSTILE = st.recursive(
    st.none() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.deep
@settings(max_examples=30)
@given(
    text=st.text(max_size=40)
    | st.builds(json.dumps, HOSTILE)
    | st.builds(
        lambda response: json.dumps({"id": "YQ", "rawId": "YQ", "type": "public-key", "response": response}),
        st.dictionaries(st.sampled_from(["clientDataJSON", "authenticatorData", "signature"]), HOSTILE),
    )
)
def test_nothing_that_a_browser_can_send_is_an_error_of_the_server(db, text):
    carl = User.objects.first() or User.objects.create_user("carl")
    Passkey.objects.get_or_create(credential_id="YQ", user=carl, public_key="YQ", name="x")
    client = Client()
    options(client, "sign-in")

    assert client.post("/login/passkey/", {"credential": text}).status_code == 400


def test_long_answers_are_refused_unread(client, phone):
    options(client, "sign-in")

    assert client.post("/login/passkey/", {"credential": "[" * (LONGEST_RESPONSE + 1)}).status_code == 400


@override_settings(SECOND_FACTOR="all")
def test_a_password_alone_adds_no_app_for_a_member_with_a_passkey(client, phone, alice):
    client.post("/login/", {"username": "alice", "password": PASSWORD})

    page = client.get("/login/second/").text
    assert "<svg" not in page.partition("<main")[2].partition("</main>")[0]
    answer = phone.use(options(client, "second-step"))

    assert "Your recovery codes" in client.post("/login/second/", {"credential": answer}).text
    assert get_user(client) == alice


def test_a_lost_device_takes_its_passkeys_along_unless_they_are_the_only_way_in(phone, alice):
    second_factor.turn_on(alice)
    second_factor.reset_lost(alice)
    assert not alice.passkeys.exists()

    alice.set_unusable_password()
    alice.save()
    Passkey.objects.create(user=alice, name="key", credential_id="AA", public_key="AA")
    second_factor.reset_lost(alice)
    assert alice.passkeys.count() == 1
