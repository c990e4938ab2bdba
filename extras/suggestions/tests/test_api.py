"""Suggestions by programs."""

import pytest

from accounts.models import Token
from tests.caller import Caller, error_of, with_token
from tests.factories import browser_of


@pytest.fixture
def path(article, bob, mallory):
    for one in (bob, mallory):
        one.trust()
    return f"articles/{article}/suggestions"


def test_new_members_and_tokens_without_the_scope_are_refused(path, article, bob, alice):
    bob.trusted_at = None
    bob.save()
    assert error_of(with_token(bob).post(path, {"title": "Better"})) == (403, "not-trusted-yet")
    _token, plaintext = Token.objects.issue(alice, "a program", scopes=["read"])
    reading = Caller(browser_of(strict=True), authorization=f"Bearer {plaintext}")
    for answer in (
        reading.post(f"articles/{article}/log/undo", {"time": 1.5}),
        reading.put(f"{path}/x", {"accepted": True}),
    ):
        assert error_of(answer) == (403, "missing-scope")
