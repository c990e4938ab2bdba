"""The articles already shown, packed into an address: read back completely or not at all."""

import random

from django.test import override_settings
from hypothesis import given, strategies as st

from articles.web.paging import LIFE_HOURS, MOST_IN_ADDRESS, pack, unpack

NOW = 1_700_000_123.0
LIFE = LIFE_HOURS * 3600

ids = st.lists(st.integers(1, 10**15 - 1), max_size=8, unique=True)


@given(st.lists(ids, min_size=1, max_size=5), st.text(max_size=20))
def test_a_packed_token_is_read_back_page_by_page(pages, name):
    token = pack(pages, name, NOW)

    assert unpack(token, name, NOW) == tuple(tuple(sorted(page)) for page in pages)
    assert not set(token) - set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~")


@given(st.text(max_size=200) | st.text("abcdefghABCDEFGH0123456789-_", max_size=400))
def test_an_invalid_token_is_read_as_empty(text):
    assert unpack(text, "/", NOW) == ()


@given(st.data())
def test_a_truncated_or_changed_token_is_read_as_empty(data):
    token = pack([range(1, 26), range(40, 65)], "/", NOW)
    at = data.draw(st.integers(0, len(token) - 2))
    other = data.draw(st.sampled_from("abcXYZ019").filter(lambda char: char != token[at]))

    assert unpack(token[:at], "/", NOW) == ()
    assert unpack(token[:at] + other + token[at + 1 :], "/", NOW) == ()


def test_a_token_of_another_list_is_read_as_empty():
    assert unpack(pack([[1, 2]], "/", NOW), "/newest/?", NOW) == ()


def test_a_token_made_without_the_sites_secret_key_is_read_as_empty():
    with override_settings(SECRET_KEY="that of another site"):
        token = pack([[1, 2]], "/", NOW)

    assert unpack(token, "/", NOW) == ()


def test_a_token_is_valid_for_a_day_and_after_a_clock_is_set_back_slightly():
    token = pack([[1, 2]], "/", NOW)

    for later in (-1, 0, 601, 3600, LIFE - 1):
        assert unpack(token, "/", NOW + later) == ((1, 2),)
    for later in (-3 * 3600, LIFE + 3601, 10**9):
        assert unpack(token, "/", NOW + later) == ()


def test_within_an_hour_the_same_page_has_the_same_token():
    hour = NOW - NOW % 3600

    assert pack([[1, 2]], "/", hour) == pack([[1, 2]], "/", hour + 3599)


def test_five_hundred_articles_of_any_age_fit_and_more_give_no_token():
    chosen = random.Random(1).sample(range(1, 300_000), 3000)
    pages = [chosen[at : at + 25] for at in range(0, 3000, 25)]

    assert 0 < len(pack(pages[:20], "/", NOW)) < MOST_IN_ADDRESS
    assert pack(pages, "/", NOW) == ""


def test_clocks_of_several_servers_can_differ_by_an_hour():
    full_hour = 1_700_000_000 // 3600 * 3600
    token = pack([(1, 2)], "a", full_hour)

    assert unpack(token, "a", full_hour - 3600) == ((1, 2),)
    assert unpack(token, "a", full_hour - 3601) == ()


def test_the_lifetime_of_a_token_cannot_be_extended_by_changing_its_time():
    old, new = pack([(1, 2)], "a", 1_700_000_000), pack([(3,)], "a", 1_800_000_000)
    (_body, signature), (body, _signature) = old.split("~"), new.split("~")

    assert unpack(f"{body}~{signature}", "a", 1_800_000_000) == ()
