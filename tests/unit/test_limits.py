"""Rate limits: their rates, their formula, and the fallback of one process."""

import pytest
from django.utils import translation

from articles.domain.errors import LimitReached, NewMemberLimitReached
from articles.domain.limits import LIMITS, BadPair, LocalLimits, Rate, Use, rates, take
from articles.text.refusals import LIMITS as REASONS, action_sentence
from tests.rules import RATES

RATE = Rate(5, 10)
NOW = 1_700_000_000_000


@pytest.mark.parametrize(
    ("text", "rate"), [("60/2m", Rate(60, 120)), ("5/1d", Rate(5, 86400)), ("1/30s", Rate(1, 30))]
)
def test_a_rate_is_a_number_and_a_period(text, rate):
    assert Rate.parse(text) == rate


@pytest.mark.parametrize("text", ["60", "0/2m", "60/0s", "60 in 2 min", "-1/1s", "5/2d", "5/1w", "5/d"])
def test_other_texts_are_no_rates(text):
    with pytest.raises(ValueError, match=text):
        Rate.parse(text)


def test_pairs_change_the_defaults_and_nothing_else():
    changed = rates("votes=1/2m, posts_new=off,api = 7/1h")

    expected = {**RATES, "votes": Rate(1, 120), "api": Rate(7, 3600)}
    del expected["posts_new"]
    assert changed == expected
    assert (rates(""), rates("off")) == (RATES, {})


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("votes=60/2m, vots=1/1m", "vots=1/1m"), ("votes=60/2m, votes=1/1m", "votes=1/1m"),
        ("votes=0/2m", "votes=0/2m"), ("votes", "votes"), ("votes=60/2m,", ""),
        ("LIMIT_VOTES=60 in 2 min", "LIMIT_VOTES=60 in 2 min"),
        ("off, votes=1/1m", "off"),
        (f"votes={'9' * 500_000}/1s", f"votes={'9' * 34}"),
    ],
)  # fmt: skip
def test_a_wrong_pair_is_named(text, pair):
    with pytest.raises(BadPair) as caught:
        rates(text)
    assert str(caught.value) == pair


def test_a_burst_takes_all_uses_and_then_one_is_refilled_at_a_time():
    full_at, waits = 0, []
    for _ in range(7):
        full_at, wait = take(full_at, NOW, RATE)
        waits.append(wait)

    assert waits == [0, 0, 0, 0, 0, 2000, 2000]
    assert take(full_at, NOW + 1999, RATE)[1] == 1
    assert take(full_at, NOW + 2000, RATE)[1] == 0
    assert take(full_at, NOW + 10_000, RATE)[0] == NOW + 12_000


def test_a_clock_that_was_ahead_blocks_no_one_for_longer_than_the_period():
    assert take(NOW + 8 * 86_400_000, NOW, RATE)[1] == RATE.refill_ms


@pytest.mark.parametrize("rate", [Rate(7, 60), Rate(300, 1), Rate(1, 86400)])
def test_the_rate_is_never_exceeded_in_the_long_run(rate):
    full_at, taken = 0, 0
    for moment in range(NOW, NOW + 3 * rate.capacity_ms, max(1, rate.refill_ms // 3)):
        full_at, wait = take(full_at, moment, rate)
        taken += not wait

    assert taken <= 4 * rate.uses


def test_several_uses_are_taken_at_once_or_none_and_never_more_than_the_limit_holds():
    full_at, wait = take(0, NOW, RATE, 4)
    assert (full_at - NOW, wait) == (8_000, 0)
    assert take(full_at, NOW, RATE, 2) == (full_at, 2_000)
    assert take(full_at, NOW, RATE, 1) == (NOW + 10_000, 0)

    limits, rates = LocalLimits(), {"texts": RATE}
    assert limits.take([Use("texts", "1", uses=99)], rates, NOW) == ("texts", 0)
    assert limits.take([Use("texts", "1", uses=2)], rates, NOW) == ("texts", 4_000)


def test_a_process_alone_refuses_like_the_store():
    limits, use = LocalLimits(), Use("logins", "a")

    outcomes = [limits.take([use, Use("search", "b")], {"logins": RATE}, NOW) for _ in range(6)]

    assert outcomes == [("logins", 0)] * 5 + [("logins", 2000)]
    assert limits.take([Use("logins", "other")], {"logins": RATE}, NOW) == ("logins", 0)
    assert limits.take([use], {}, NOW) == ("", 0)


def test_a_process_alone_remembers_a_bounded_number_of_subjects(monkeypatch):
    monkeypatch.setattr(LocalLimits, "_MOST_SUBJECTS", 10)
    limits = LocalLimits()

    for subject in range(100):
        limits.take([Use("logins", str(subject))], {"logins": RATE}, NOW)

    assert len(limits._full_at) == 10


def test_every_limit_has_a_default_and_a_reason():
    assert RATES.keys() == {limit.name for limit in LIMITS}
    assert REASONS.keys() == {limit.sentence_key for limit in LIMITS}


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "Too many password attempts. Try again in 1 minute 30 seconds."),
        ("zh-hans", "密码尝试次数过多。请在 1 分钟 30 秒后重试。"),
    ],
)
def test_a_refusal_says_what_was_limited_and_when_it_works_again(language, sentence):
    with translation.override(language):
        assert action_sentence(LimitReached("logins_day", 89_001)) == sentence


@pytest.mark.parametrize(
    ("terms", "end"),
    [
        ({"age": 86400}, "until your account is 1 day old."),
        (
            {"points": 5},
            "until your recent articles have 5 points from members who are no longer new, among them a moderator "
            "or three who are unrelated.",
        ),
    ],
)
def test_a_refusal_of_a_new_member_names_only_what_matters(terms, end):
    refusal = NewMemberLimitReached("posts_new", 60_000, uses=1, seconds=86400, **terms)

    sentence = f"New members can post 1 article in 1 day. You are a new member {end} Try again in 1 minute."
    assert action_sentence(refusal) == sentence
