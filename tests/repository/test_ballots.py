"""Ballot records on several shards: closed articles are found until they are noted, and keep their voters."""

import pytest

from articles.domain.rules import Rules
from articles.repository import Repository
from tests.cast import ALICE, BOB, CAROL, MODERATOR
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


def merge(repository: Repository, article: int, into: int) -> None:
    list(repository.merges.merge(article, into, MODERATOR, "One story"))


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


class TestMerges:
    """Votes that a merge moves, between shards, while a record is made of those that were read."""

    @pytest.fixture
    def stories(self, repository, clock):
        """A closed article by alice, and two of its story in other shards, by bob and carol."""
        numbers = [post(repository, number, poster=poster) for number, poster in enumerate((ALICE, BOB, CAROL))]
        let_pass(repository, clock, 8 * DAY)
        return numbers

    def test_as_many_votes_of_other_members_are_noticed(self, repository, stories):
        stay, story, other = stories
        merge(repository, story, stay)
        found = next(one for one in repository.ballots.find_closed() if stay in one.ids)
        records = records_of(repository, found)

        list(repository.merges.undo(story, MODERATOR, "Two stories"))
        merge(repository, other, stay)

        assert not repository.ballots.note(found, records)
        assert sorted(note_ballots(repository)) == stories
