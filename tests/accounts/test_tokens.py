from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest
import time_machine

from accounts.models import Token

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def test_a_token_identifies_its_member(alice, bob):
    token, plaintext = Token.objects.issue(alice, "laptop")
    Token.objects.issue(bob, "laptop")

    assert plaintext.startswith("avs_")
    assert len(plaintext) >= 4 + 43  # 32 bytes
    assert Token.objects.find(plaintext).user == alice
    assert (token.name, token.last_used_at) == ("laptop", None)


def test_only_a_digest_of_a_token_is_stored(alice):
    token, plaintext = Token.objects.issue(alice, "laptop")

    assert token.digest == sha256(plaintext.encode()).hexdigest()
    assert Token.objects.find(token.digest) is None
    assert plaintext not in str(Token.objects.values().get())


@pytest.mark.parametrize("plaintext", ["", "avs_", "avs_x", "x" * 100_000, "avs_é", "avs_\ud800", "avs_\x00"])
def test_an_invalid_token_identifies_no_member(alice, plaintext):
    Token.objects.issue(alice, "laptop")

    assert Token.objects.find(plaintext) is None


def test_a_token_without_the_prefix_is_not_looked_up(alice, django_assert_num_queries):
    with django_assert_num_queries(0):
        assert Token.objects.find("sk_live_123") is None


def test_the_use_of_a_token_is_recorded_at_most_once_an_hour(alice):
    _, plaintext = Token.objects.issue(alice, "laptop")
    noted = []
    for minutes in (0, 59, 60, 61):
        with time_machine.travel(NOON + timedelta(minutes=minutes), tick=False):
            Token.objects.find(plaintext)
        noted.append(Token.objects.get().last_used_at)

    assert noted == [NOON, NOON, NOON + timedelta(hours=1), NOON + timedelta(hours=1)]


def test_a_use_within_the_hour_costs_two_queries_with_those_about_the_member(alice, django_assert_num_queries):
    _, plaintext = Token.objects.issue(alice, "laptop")
    Token.objects.find(plaintext)

    with django_assert_num_queries(2):
        member = Token.objects.find(plaintext).user
        assert (member, member.has_permissions, member.is_muting, member.blocked_ids) == (alice, False, False, "")
