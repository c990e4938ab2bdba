"""Ballot records on several shards: closed articles are found until they are noted, and keep their voters."""

import pytest

from articles.domain.rules import Rules
from articles.repository import Repository
from tests.clock import DAY, Clock
from tests.factories import imported, post
from tests.repository.usage import let_pass, note_ballots, records_of
from tests.rules import default_rules

steps = pytest.mark.parametrize("small_batches", [1, 2, 3], indirect=True)
"""Run a test with steps of so many articles."""


@pytest.fixture
def rules() -> Rules:
    """The rules of a site that makes ballot records."""
    return default_rules(records_ballots=True)


def post_many(repository: Repository, clock: Clock, count: int) -> list[int]:
    """Post articles, some of them at the same moment."""
    numbers = []
    for number in range(count):
        numbers.append(post(repository, number))
        clock.advance(number % 3)
    return numbers


@steps
def test_behind_the_first_open_article_no_more_are_looked_for(small_batches, repository, clock):
    post_many(repository, clock, 24)
    repository.clock.accept()

    assert not any(found.has_more or found.ids for found in repository.ballots.find_closed())


def test_what_is_imported_while_records_are_made_gets_its_own(repository, clock):
    post_many(repository, clock, 12)
    let_pass(repository, clock, 8 * DAY)
    waiting = list(repository.ballots.find_closed())

    added = repository.imports.add([imported(number, clock() - 2 * DAY) for number in range(12)])
    for found in waiting:
        assert repository.ballots.note(found, records_of(repository, found))
    assert note_ballots(repository) == []
    let_pass(repository, clock, 12 * DAY)

    assert repository.clock.drop_voters(60) == 12
    assert sorted(note_ballots(repository)) == sorted(added)
