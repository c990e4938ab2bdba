"""A store that many tests fill alike is filled once."""

import pytest

from articles.repository.store import schema
from tests.factories import post
from tests.repository.snapshots import filled_once
from tests.store_state import contents, count_keys, empty


@pytest.fixture
def fill():
    """A function that fills a store once per set of conditions, and counts how often it runs."""

    @filled_once
    def fill(repository, clock, number=1):
        fill.runs += 1
        post(repository, number)
        clock.advance(5)
        return [number]

    fill.runs = 0
    return fill


def start_again(repository, clock):
    empty(repository)
    clock.now -= 5
    repository.prepare()


def test_a_prepared_store_is_filled_from_the_copy(repository, clock, fill):
    numbers, filled, now = fill(repository, clock), contents(repository), clock.now
    start_again(repository, clock)

    assert fill(repository, clock) == numbers
    assert (contents(repository), clock.now) == (filled, now)
    assert fill.runs == 1


def test_a_copy_keeps_the_id_of_the_site(repository, clock, fill):
    fill(repository, clock)
    start_again(repository, clock)
    site = schema.site_id(repository.store)

    fill(repository, clock)

    assert schema.site_id(repository.store) == site


def test_a_store_under_other_conditions_is_filled_again(repository, clock, fill):
    fill(repository, clock)
    start_again(repository, clock)
    fill(repository, clock, 2)
    start_again(repository, clock)
    repository.account_ids.note(7)
    fill(repository, clock)
    start_again(repository, clock)
    clock.advance(1)
    fill(repository, clock)

    assert fill.runs == 4


def test_a_store_with_other_keys_is_not_replaced_by_the_copy(repository, clock, fill):
    fill(repository, clock)
    start_again(repository, clock)
    post(repository, 9)
    keys = count_keys(repository)

    fill(repository, clock)

    assert fill.runs == 2
    assert count_keys(repository) > keys
