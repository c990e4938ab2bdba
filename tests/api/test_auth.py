"""Tokens, sessions, and CSRF."""

import pytest
from django.test import Client

from accounts.models import Token
from tests.caller import Caller, error_of, with_token


def vote(caller, article, **headers):
    return caller.put(f"articles/{article}/vote", {"choice": "vote"}, headers=headers)


@pytest.fixture
def session(site_store, bob) -> Caller:
    """A browser in which bob is logged in, with CSRF checks enforced."""
    caller = Caller(Client(enforce_csrf_checks=True))
    caller.client.force_login(bob)
    return caller


def csrf_token(caller: Caller) -> str:
    """Return the CSRF token of the browser's page."""
    page = caller.client.get("/post/").content.decode()
    return page.split('name="csrfmiddlewaretoken" value="')[1].split('"')[0]


def test_a_session_votes_with_the_pages_csrf_token(session, article):
    assert vote(session, article, **{"X-CSRFToken": csrf_token(session)}).json()["votes"] == 2


@pytest.mark.parametrize("token", [None, "", "x" * 32, "x" * 64, "é"])
def test_a_session_without_the_csrf_token_is_refused(session, site_store, article, token):
    csrf_token(session)
    headers = {} if token is None else {"X-CSRFToken": token}

    assert error_of(vote(session, article, **headers)) == (403, "csrf")
    assert error_of(session.post("articles", {"title": "x", "link": "https://x.org/"}, headers=headers))[0] == 403
    assert error_of(session.put(f"articles/{article}/groups", {"groups": []}, headers=headers)) == (403, "csrf")
    assert site_store.articles.get(article).votes == 1


def test_a_session_from_a_foreign_page_is_refused(session, article):
    headers = {"X-CSRFToken": csrf_token(session), "Origin": "https://evil.example"}

    assert error_of(vote(session, article, **headers)) == (401, "login-required")


def test_a_token_needs_no_csrf_token(as_bob, article):
    assert vote(as_bob, article).status_code == 200


def test_a_token_takes_precedence_over_the_session(session, as_alice, article):
    answer = vote(session, article, **as_alice.headers)

    found = (answer.json()["votes"], answer.json()["choice"])
    assert found == (1, "vote")


@pytest.mark.parametrize("token", ["", "avs_", "avs_wrong", "wrong", "avs_é", "avs_" + "x" * 5000, "\x7f"])
def test_a_wrong_token_is_refused_even_with_a_session(session, anyone, site_store, article, token):
    headers = {"Authorization": f"Bearer {token}"}

    for caller in (session, anyone):
        assert error_of(vote(caller, article, **headers)) == (401, "bad-token")
        assert error_of(caller.get("articles", headers=headers)) == (401, "bad-token")
        assert error_of(caller.get(f"articles/{article}", headers=headers)) == (401, "bad-token")
    assert site_store.articles.get(article).votes == 1


def test_a_wrong_token_is_reported_in_the_standard_header(anyone, article):
    answer = vote(anyone, article, Authorization="Bearer avs_wrong")

    assert answer["WWW-Authenticate"] == 'Bearer error="invalid_token"'


def test_a_revoked_token_is_refused(as_bob, article, bob):
    Token.objects.filter(user=bob).delete()

    assert error_of(vote(as_bob, article)) == (401, "bad-token")


@pytest.mark.parametrize("scheme", ["bearer", "BEARER"])
def test_the_case_of_the_scheme_does_not_matter(site_store, bob, article, scheme):
    plaintext = with_token(bob).headers["authorization"].split()[1]

    assert vote(Caller(Client()), article, Authorization=f"{scheme} {plaintext}").status_code == 200


@pytest.mark.parametrize("how", ["token", "session"])
def test_an_inactive_member_is_refused(session, as_bob, bob, article, how):
    bob.is_active = False
    bob.save()

    caller, code = {"token": (as_bob, "bad-token"), "session": (session, "login-required")}[how]
    assert error_of(vote(caller, article)) == (401, code)


def test_an_expired_session_is_refused(session, article):
    token = csrf_token(session)
    session.client.session.flush()

    assert error_of(vote(session, article, **{"X-CSRFToken": token})) == (401, "login-required")


def test_a_permission_also_applies_to_a_session(site_store, carol, article, python):
    caller = Caller(Client(enforce_csrf_checks=True))
    caller.client.force_login(carol)

    answer = caller.put(
        f"articles/{article}/groups", {"groups": ["python"]}, headers={"X-CSRFToken": csrf_token(caller)}
    )

    assert answer.json()["groups"] == ["python"]
