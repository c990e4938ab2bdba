"""Providers that lie, answer late or not at all, and answers that attackers carry from one place to another."""

import math
import time

import pytest
from joserfc import jwk

from accounts.models import User
from extras.providers import http
from extras.providers.models import Identity
from extras.providers.provider import TENANT
from extras.providers.tests.own_provider import (
    KEY,
    OTHER_KEY,
    SECRET,
    OwnProvider,
    encoded,
    signed_depth,
    signed_with_public_key,
    unsigned,
)
from tests.cast import PASSWORD
from tests.factories import browser_of

pytestmark = pytest.mark.deep

NOW = int(time.time())


@pytest.fixture
def member(club, alice):
    """The account of the person whom the provider calls alice."""
    Identity.objects.create(user=alice, issuer=club.issuer, subject="alice")
    return alice


def is_logged_in(browser):
    return browser.get("/about/").wsgi_request.user.is_authenticated


def assert_refused(browser, answer):
    assert answer.status_code == 403
    assert 'name="password"' in answer.text, "other ways in stay"
    assert not is_logged_in(browser)


def test_an_honest_provider_logs_its_member_in(browser, club, member):
    answer = club.log_in(browser, next="/about/")

    assert answer.url == "/about/"
    assert is_logged_in(browser)


NO_TIMES = (
    "", "0", str(NOW), f"{NOW}.5", "soon", "2027-01-15T08:00:00Z", True, False, [], [NOW], {}, {"seconds": NOW},
    -1, -NOW, -0.5, math.inf, -math.inf, math.nan, 1e300, 10**400, NOW * 10**9,
)  # fmt: skip
"""What is no time in seconds."""

LIES = {
    "another issuer": {"claims": {"iss": "https://evil.example"}},
    "no issuer": {"claims": {"iss": None}},
    "another audience": {"claims": {"aud": "another site"}},
    "another audience, which this site asked for": {"claims": {"aud": "another site", "azp": "site"}},
    "no audience": {"claims": {"aud": None}},
    "several audiences without an authorised party": {"claims": {"aud": ["site", "another site"]}},
    "another authorised party": {"claims": {"aud": ["site", "another site"], "azp": "another site"}},
    "another nonce": {"claims": {"nonce": "x"}},
    "no nonce": {"claims": {"nonce": None}},
    "expired": {"claims": {"exp": NOW - 3600}},
    "without an end": {"claims": {"exp": None}},
    "not valid yet": {"claims": {"nbf": NOW + 3600}},
    **{
        f"{name}: no time, {number}": {"claims": {name: value}}
        for name in ("exp", "iat", "nbf")
        for number, value in enumerate(NO_TIMES)
    },
    "issued in the future": {"claims": {"iat": NOW + 3600}},
    "issued at no time": {"claims": {"iat": None}},
    "no subject": {"claims": {"sub": None}},
    "an empty subject": {"claims": {"sub": ""}},
    "a subject that is no text": {"claims": {"sub": 7}},
    "a long subject": {"claims": {"sub": "x" * 256}},
    "the hash of another access token": {"claims": {"at_hash": "x"}},
    "no signature": {"header": {"alg": "none"}, "sign": unsigned},
    "signed with the secret": {"header": {"alg": "HS256"}, "key": jwk.OctKey.import_key(SECRET)},
    "signed with the public key": {"header": {"alg": "HS256"}, "sign": signed_with_public_key},
    "signed with another key": {"key": OTHER_KEY},
    "a secret among the keys": {
        "header": {"alg": "HS256", "kid": "two"},
        "key": jwk.OctKey.import_key(SECRET),
        "keys": [KEY.as_dict(private=False), jwk.OctKey.import_key(SECRET, {"kid": "two"}).as_dict()],
    },
    "an unknown key": {"header": {"kid": "three"}},
    "no ID token": {"token": {"id_token": None}},
    "an endless depth": {"sign": lambda *_: f"{encoded(b'[' * 100_000)}.{encoded(b'{}')}."},
    "claims of an endless depth": {"sign": signed_depth},
    "an ID token that is none": {"token": {"id_token": "a.b.c"}},
    "no access token": {"token": {"access_token": None}},
    "facts about someone else": {"userinfo": {"sub": "mallory", "email": "mallory@example.org"}},
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_logs_nobody_in(browser, club, member, caplog, lie):
    vars(club).update(LIES[lie])

    answer = club.back(browser, club.begin(browser))

    assert_refused(browser, answer)
    assert "The answer of Club was not valid." in answer.text
    assert "failed login: client=127.0.0.1 name='at club'" in caplog.messages


# Answers that are carried from one place to another


def test_an_answer_counts_once(browser, club, member):
    answer = club.begin(browser)
    club.codes["another"] = club.codes[answer["code"]]
    club.back(browser, answer)

    again = club.back(browser, answer | {"code": "another"})
    browser.post("/logout/")

    assert_refused(browser, again)
    assert "This login has expired or was used already." in again.text


def test_a_code_counts_once(browser, club, member):
    first = club.begin(browser)
    club.back(browser, first)
    browser.post("/logout/")

    assert_refused(browser, club.back(browser, club.begin(browser) | {"code": first["code"]}))


def test_an_answer_counts_only_in_the_browser_that_left(browser, club, member):
    answer = club.begin(browser)
    club.begin(other := browser_of())

    assert_refused(other, club.back(other, answer))
    assert "token" not in club.requests, "the code is not used"


def test_an_answer_counts_for_half_an_hour(browser, club, member, time_machine):
    answer = club.begin(browser)
    time_machine.move_to(time.time() + 1801)

    assert_refused(browser, club.back(browser, answer))


@pytest.fixture
def rival(club, settings):
    """A second provider, which attacks the first."""
    rival = OwnProvider("rival")
    settings.PROVIDERS = club.settings() | rival.settings()
    yield rival
    rival.stop()


def test_an_answer_of_one_provider_does_not_count_for_another(browser, club, rival, member):
    answer = club.begin(browser)
    rival.metadata = {"authorization_response_iss_parameter_supported": False}

    assert_refused(browser, rival.back(browser, {name: answer[name] for name in ("code", "state")}))
    assert "token" not in rival.requests, "the code does not reach the rival"


@pytest.mark.parametrize("issuer", ["rival", "missing"])
def test_an_answer_names_its_provider(browser, club, rival, member, issuer):
    answer = club.begin(browser) | {"iss": rival.issuer}
    if issuer == "missing":
        del answer["iss"]

    assert_refused(browser, club.back(browser, answer))
    assert "token" not in club.requests


def test_the_same_subject_at_another_provider_is_someone_else(browser, club, rival, member):
    assert rival.log_in(browser, "alice").url == "/signup/name/"


# Providers that do not answer


TROUBLES = ("away", "slow", "dripping", "huge", "nested", "redirect", "broken", "500")


@pytest.mark.parametrize("step", ["token", "keys", "userinfo"])
@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_provider_in_trouble_leaves_the_other_ways_in(browser, club, member, monkeypatch, step, trouble):
    answer = club.begin(browser, next="/about/")
    monkeypatch.setattr(http, "SECONDS", 0.15)
    club.trouble[step] = trouble

    page = club.back(browser, answer)

    assert page.status_code == 502
    assert "Club does not answer right now." in page.text
    assert 'name="password"' in page.text
    assert 'name="next" value="/about/"' in page.text, "what waits for the login"
    assert not is_logged_in(browser)
    assert "/elsewhere" not in club.requests


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_provider_that_cannot_be_found_leaves_the_other_ways_in(browser, club, monkeypatch, trouble):
    monkeypatch.setattr(http, "SECONDS", 0.15)
    club.trouble["discovery"] = trouble

    page = browser.post("/login/with/club/")

    assert page.status_code == 502
    assert "Club does not answer right now." in page.text
    assert 'name="password"' in page.text


METADATA = {
    "another issuer": {"issuer": "https://evil.example"},
    "no token endpoint": {"token_endpoint": None},
    "an endpoint elsewhere without TLS": {"token_endpoint": "http://evil.example/token"},
    "a script": {"authorization_endpoint": "javascript:alert(1)"},
    "an end of sessions without TLS": {"end_session_endpoint": "http://evil.example/"},
}


@pytest.mark.parametrize("lie", METADATA)
def test_what_a_provider_says_about_itself_is_checked(browser, club, lie):
    club.metadata = METADATA[lie]

    assert browser.post("/login/with/club/").status_code == 502


def test_invented_keys_cause_one_look_a_minute(browser, club, member):
    club.header = {"kid": "invented"}

    for _ in range(3):
        club.back(browser, club.begin(browser))

    assert club.requests.count("keys") == 1, "they have just been read"


def test_a_provider_of_many_organisations_issues_under_the_number_of_each(browser, club, settings):
    tenant = "0f7b2d0c-1111-4222-8333-444455556666"
    club.issuer = f"{club.url}/{TENANT}/v2.0"
    settings.PROVIDERS = club.settings()
    own = {"tid": tenant, "iss": club.issuer.replace(TENANT, tenant)}

    for claims, is_right in (
        (own, True),
        (own | {"tid": tenant.replace("1", "2")}, False),
        ({"tid": "x", "iss": club.issuer.replace(TENANT, "x")}, False),
        ({"iss": club.issuer}, False),
    ):
        club.claims = claims
        answer = club.begin(browser) | {"iss": own["iss"]}
        assert (club.back(browser, answer).status_code == 302) is is_right


# Addresses


@pytest.mark.parametrize("verified", [False, "true", 1, None])
def test_a_trusted_provider_has_to_call_an_address_verified(browser, club, settings, alice, verified):
    settings.PROVIDERS = club.settings(is_trusted=True)
    User.objects.update(verified_email=alice.email)
    club.claims = {"email": alice.email, "email_verified": verified}

    assert club.log_in(browser, "mallory").url == "/signup/name/"

    assert not alice.identities.exists()
    browser.post("/signup/name/", {"username": "Mal"})
    assert not User.objects.get(username="Mal").has_verified_email


def test_an_address_that_two_accounts_have_verified_leads_to_none(browser, club, settings, alice, bob):
    settings.PROVIDERS = club.settings(is_trusted=True)
    User.objects.update(email=alice.email, verified_email=alice.email)
    club.claims = {"email": alice.email, "email_verified": True}

    assert club.log_in(browser).url == "/signup/name/"


def test_a_newcomer_does_not_learn_which_addresses_have_an_account(club, alice):
    pages = []
    for address in (alice.email, "nobody@example.org"):
        browser, club.claims = browser_of(), {"email": address, "preferred_username": "newcomer"}
        answer = club.log_in(browser, address)
        page = browser.get(answer.url).text.replace(address, "…")
        kept = browser.session["newcomer"]["token"]
        pages.append((answer.status_code, page.replace(kept, "…").partition("<main")[2].partition("csrf")[0]))

    assert pages[0] == pages[1]
    assert len(pages[0][1]) > 100


def confirm(browser, club, time_passes, auth_time):
    """Ask the provider for a fresh proof, when the login is no longer one."""
    club.log_in(browser)
    time_passes(700)
    club.claims = {"auth_time": auth_time}
    return club.back(browser, club.begin(browser, "/login/confirm/with/{}/"), follow=True)


@pytest.mark.parametrize("auth_time", [*NO_TIMES, None], ids=map(str, range(len(NO_TIMES) + 1)))
def test_a_proof_has_to_say_when_the_person_logged_in(browser, club, member, time_passes, auth_time):
    answer = confirm(browser, club, time_passes, auth_time)

    assert "Club did not confirm that you have just logged in there." in answer.text
    assert browser.get("/settings/delete/").status_code == 302


@pytest.mark.parametrize("seconds", [-(10**9), -3600, -61, 300, 3600, 10**9])
def test_a_proof_has_to_be_of_this_time(browser, club, member, time_passes, seconds):
    confirm(browser, club, time_passes, int(time.time()) + seconds)

    assert browser.get("/settings/delete/").status_code == 302


@pytest.mark.parametrize("seconds", [-50, 0, 0.5, 30])
def test_clocks_may_differ_by_a_minute(browser, club, member, time_passes, seconds):
    confirm(browser, club, time_passes, int(time.time()) + seconds)

    assert browser.get("/settings/delete/").status_code == 200


def test_a_connection_counts_only_for_the_member_who_left(browser, club, alice, bob):
    browser.post("/login/", {"username": "bob", "password": PASSWORD})
    answer = club.begin(browser, "/settings/identities/add/{}/")
    browser.force_login(alice)

    club.back(browser, answer)

    assert not Identity.objects.exists()
