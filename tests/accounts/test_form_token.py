"""The token of forms: Django has to read in it the secret of the cookie."""

from django.middleware.csrf import CSRF_ALLOWED_CHARS, _does_token_match, _get_new_csrf_string, get_token
from django.template.backends.utils import csrf_input
from django.test import RequestFactory

from accounts.web.sent_forms import form_token, form_token_input, masked
from tests.cast import PASSWORD


def test_django_finds_the_secret_in_every_token():
    secrets = [letter * 32 for letter in CSRF_ALLOWED_CHARS] + [_get_new_csrf_string() for _ in range(100)]
    tokens = [masked(secret) for secret in secrets]

    assert all(map(_does_token_match, tokens, secrets))
    assert not any(map(_does_token_match, tokens, secrets[1:]))
    assert {letter for token in tokens for letter in token[:32]} == set(CSRF_ALLOWED_CHARS)
    assert len({masked("a" * 32) for _ in range(100)}) == 100


def test_a_page_of_a_member_sets_no_cookie_that_the_browser_has(as_alice):
    first, second = as_alice.get("/settings/"), as_alice.get("/settings/")

    assert "csrftoken" in first.cookies
    assert 'name="csrfmiddlewaretoken"' in second.text
    assert not second.cookies


def test_a_login_sets_another_cookie(as_alice):
    as_alice.get("/settings/")
    former = as_alice.cookies["csrftoken"].value

    answer = as_alice.post("/login/", {"username": "alice", "password": PASSWORD})

    assert answer.cookies["csrftoken"].value != former


def test_a_token_sets_and_renews_the_cookie_as_djangos_does():
    request = RequestFactory().get("/")
    first, second = form_token(request), form_token(request)

    assert first != second
    assert request.META["CSRF_COOKIE_NEEDS_UPDATE"]
    assert _does_token_match(second, request.META["CSRF_COOKIE"])
    assert len(get_token(request)) == len(second)
    assert len(csrf_input(request)) == len(form_token_input(request))
