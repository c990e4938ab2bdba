"""Ballot records on several shards: closed articles are found until they are noted, and keep their voters.

A random sequence is compared with a model that knows what was read of each article when its record was noted.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import count
from random import Random

import pytest

from articles.domain.articles import Choice
from articles.domain.errors import ArticlesError, StoreUnavailable
from articles.domain.rules import Rules
from articles.repository import Cast, Closed, Repository
from articles.repository.store.keys import Keys
from tests.cast import ALICE, BOB, CAROL, MALLORY, MODERATOR
from tests.clock import DAY, Clock
from tests.factories import imported, post
from tests.repository.slot_moves import SlotMove
from tests.repository.spread import prepared
from tests.repository.usage import let_pass, note_ballots, records_of
from tests.rules import SEED, default_rules
from tests.store_state import problems, voters

steps = pytest.mark.parametrize("small_batches", [1, 2, 3], indirect=True)
"""Run a test with steps of so many articles."""


@pytest.fixture
def rules() -> Rules:
    """The rules of a site that makes ballot records."""
    return default_rules(records_ballots=True)


def post_many(repository: Repository, clock: Clock, total: int = 24) -> list[int]:
    """Post articles, some of them at the same moment, and remove some."""
    numbers = []
    for number in range(total):
        numbers.append(post(repository, number))
        clock.advance(number % 3)
    for number in numbers[::5]:
        repository.articles.remove(number, MODERATOR, "Spam")
    return numbers


def find(repository: Repository) -> list[Closed]:
    return list(repository.ballots.find_closed())


def ids_in(steps: Sequence[Closed]) -> list[int]:
    return [article for one in steps for article in one.ids]


def cursors(repository: Repository) -> list[float]:
    """Return the posting time, in Unix seconds, before which all articles of each shard are recorded."""
    fields = repository.store.in_shards(lambda pipe, keys: pipe.hget(keys.ranking, "ballots_recorded"))
    return [float(one or 0) for one in fields]


def cursor_of(repository: Repository, article: int) -> float:
    shards = repository.store.shards
    return cursors(repository)[shards.all.index(shards.of(article))]


def with_voters(repository: Repository, articles: Sequence[int]) -> list[int]:
    """Return those of the articles whose voters are known."""
    return [article for article in articles if any(voters(repository, article))]


def merge(repository: Repository, article: int, into: int) -> None:
    list(repository.merges.merge(article, into, MODERATOR, "One story"))


def undo(repository: Repository, article: int) -> None:
    list(repository.merges.undo(article, MODERATOR, "Two stories"))


# Finding and noting


@steps
def test_each_closed_article_is_found_once_until_it_is_noted(small_batches, repository, clock):
    numbers = post_many(repository, clock, 6 * repository.store.shards.count)
    assert note_ballots(repository) == []
    let_pass(repository, clock, 8 * DAY)
    late = post(repository, 100)

    once = ids_in(find(repository))
    assert sorted(once) == sorted(set(once))
    assert len(once) < len(numbers), "not all in one step"
    assert ids_in(find(repository)) == once, "none has been noted"
    assert sorted(note_ballots(repository)) == numbers

    assert note_ballots(repository) == []
    let_pass(repository, clock, 8 * DAY)
    assert note_ballots(repository) == [late]
    assert {facts[0] for facts in repository.ballots.get_counts([*numbers, late]).values()} == {1}
    assert problems(repository) == []


@steps
def test_behind_the_first_open_article_no_more_are_looked_for(small_batches, repository, clock):
    post_many(repository, clock)
    repository.clock.accept()

    assert not any(found.has_more or found.ids for found in find(repository))


@steps
def test_the_cursor_waits_for_each_article_that_is_not_noted(small_batches, repository, clock):
    numbers, shards = post_many(repository, clock), repository.store.shards
    waiting, first = numbers[:4], dict[Keys, float]()
    for number in waiting:
        first.setdefault(shards.of(number), repository.articles.get(number).posted_at)
    let_pass(repository, clock, 8 * DAY)

    for _ in range(len(numbers)):
        for found in find(repository):
            records = records_of(repository, found)
            repository.ballots.note(found, {one: made for one, made in records.items() if one not in waiting})

    assert cursors(repository) == [first.get(keys, clock()) for keys in shards.all]
    assert set(waiting) <= set(note_ballots(repository))
    assert cursors(repository) == [clock()] * shards.count


def test_what_gets_no_record_holds_up_no_other(repository, clock):
    numbers = post_many(repository, clock)
    let_pass(repository, clock, 8 * DAY)
    skipped = numbers[::7]

    found = list(repository.ballots.find_closed(skipped))
    assert sorted([*ids_in(found), *skipped]) == numbers
    for one in found:
        assert repository.ballots.note(one, records_of(repository, one))
    assert ids_in(list(repository.ballots.find_closed(skipped))) == []

    assert cursors(repository) == [clock()] * repository.store.shards.count


@steps
def test_articles_posted_after_one_with_a_longer_window_wait_for_it(small_batches, repository, clock):
    now = clock()
    (longer,) = repository.imports.add([imported(1, now, closes_at=now + 20 * DAY)])
    numbers = post_many(repository, clock)
    shards = repository.store.shards
    behind = [number for number in numbers if shards.of(number) == shards.of(longer)]
    let_pass(repository, clock, 8 * DAY)

    early = note_ballots(repository)
    assert set(numbers) - set(behind) <= set(early)
    assert cursor_of(repository, longer) <= now
    let_pass(repository, clock, 13 * DAY)

    assert sorted([*early, *note_ballots(repository)]) == sorted([*numbers, longer])


@pytest.mark.parametrize("is_during", [True, False], ids=["while others are recorded", "after that"])
def test_what_is_imported_open_gets_its_own_record(repository, clock, is_during):
    post_many(repository, clock, 12)
    let_pass(repository, clock, 8 * DAY)
    waiting = find(repository)
    if not is_during:
        note_ballots(repository)

    added = repository.imports.add([imported(number, clock() - 2 * DAY) for number in range(12)])
    for found in waiting:
        assert repository.ballots.note(found, records_of(repository, found))
    assert note_ballots(repository) == []
    let_pass(repository, clock, 12 * DAY)

    assert repository.clock.drop_voters(60) == 12
    assert sorted(note_ballots(repository)) == sorted(added)


def test_while_a_shard_is_moved_key_by_key_no_article_is_passed_over(cluster, clock, rules):
    repository = prepared(cluster, clock, rules=rules)
    numbers = [post(repository, number) for number in range(48)]
    for number in numbers[:16]:
        repository.articles.remove(number, MODERATOR, "Spam")
    let_pass(repository, clock, 8 * DAY)
    move = SlotMove.begin(cluster, repository.store.shards.of(numbers[0]).ranking)

    while keys := move.keys_left():
        with pytest.raises(StoreUnavailable):
            find(repository)
        move.carry(*keys[::2])
    move.finish()

    assert sorted(note_ballots(repository)) == numbers


# Voters


def test_no_voters_are_dropped_before_they_are_noted_in_any_shard(repository, clock):
    numbers = post_many(repository, clock)
    let_pass(repository, clock, 20 * DAY)
    find(repository)
    assert repository.clock.drop_voters(60) == 0
    noted = list[int]()
    for found in find(repository)[::2]:
        assert repository.ballots.note(found, records_of(repository, found))
        noted += found.ids
    find(repository)

    assert repository.clock.drop_voters(60) == len(noted) > 0
    assert with_voters(repository, numbers) == sorted(set(numbers) - set(noted))
    assert sorted(note_ballots(repository)) == sorted(set(numbers) - set(noted))
    repository.clock.drop_voters(60)

    assert with_voters(repository, numbers) == []
    assert problems(repository) == []


def test_a_site_without_records_drops_voters_as_before(repository, clock):
    numbers = post_many(repository, clock)
    let_pass(repository, clock, 20 * DAY)
    find(repository)
    assert repository.clock.drop_voters(60) == 0

    repository.store.rules = replace(repository.rules, records_ballots=False)

    assert repository.clock.drop_voters(60) == len(numbers)
    assert with_voters(repository, numbers) == []
    assert note_ballots(repository) == [], "what is no longer known gets no record later"


# Merges


class TestMerges:
    """Votes that come with an article of another shard."""

    @pytest.fixture
    def stories(self, repository, clock):
        """A closed article by alice, and two of its story, by bob and carol, each in a shard of its own.

        Mallory opposed bob's.
        """
        numbers = [post(repository, number, poster=poster) for number, poster in enumerate((ALICE, BOB, CAROL))]
        repository.votes.cast(numbers[1], MALLORY, Choice.OPPOSE)
        let_pass(repository, clock, 8 * DAY)
        return numbers

    def test_the_article_is_found_again_and_the_merged_one_is_not(self, repository, clock, stories):
        stay, story, _other = stories
        assert sorted(note_ballots(repository)) == stories
        let_pass(repository, clock, 0.5 * DAY)
        note_ballots(repository)

        for change in (lambda: merge(repository, story, stay), lambda: undo(repository, story)):
            change()
            assert repository.ballots.get_counts([stay])[stay][0] == 0
            behind = repository.store.shards.all.index(repository.store.shards.of(stay))
            assert [number for number, at in enumerate(cursors(repository)) if at < clock()] == [behind]
            assert note_ballots(repository) == [stay]
            assert note_ballots(repository) == []

    def test_an_undo_after_the_voters_were_dropped_is_found(self, repository, clock, stories):
        stay, story, _other = stories
        merge(repository, story, stay)
        note_ballots(repository)
        let_pass(repository, clock, 20 * DAY)
        note_ballots(repository)
        assert repository.clock.drop_voters(60)

        undo(repository, story)

        (found,) = [one for one in find(repository) if one.ids]
        assert found.ids == (stay,)
        cast = repository.ballots.read(stay)
        assert (cast.votes, cast.opposes, cast.voters, cast.merged) == (1, 0, None, ())
        assert note_ballots(repository) == [stay]

    def test_as_many_votes_of_other_members_are_noticed(self, repository, stories):
        stay, story, other = stories
        merge(repository, story, stay)
        found = next(one for one in find(repository) if stay in one.ids)
        records = records_of(repository, found)

        undo(repository, story)
        merge(repository, other, stay)

        assert not repository.ballots.note(found, records)
        assert stay in note_ballots(repository)


# Everything in any order


class Machine:
    """A store and its model: what was read of each article when its latest record was noted."""

    def __init__(self, repository: Repository, clock: Clock, seed: int) -> None:
        self.repository, self.clock, self.chance = repository, clock, Random(seed)
        self.articles: list[int] = []
        self.votable: set[int] = set()  # those that were open when they came
        self.versions = count(1)
        self.waiting: list[tuple[Closed, Mapping[int, tuple[int, Cast]]]] = []
        """What processes have found and read, but not noted."""

        self.noted: dict[int, Cast] = {}

    def any(self) -> int:
        return self.chance.choice(self.articles)

    def post(self) -> None:
        self.articles.append(post(self.repository, len(self.articles), poster=self.chance.randint(11, 19)))
        self.votable.add(self.articles[-1])

    def add(self) -> None:
        at = self.clock() - self.chance.choice([0, 1, 5, 30]) * DAY
        closes = at + self.chance.choice([1, 6, 7, 9, 40]) * DAY
        facts = imported(len(self.articles), at, closes_at=closes, poster=self.chance.randint(11, 19))
        self.articles += self.repository.imports.add([facts])
        self.votable |= {self.articles[-1]} if closes > self.clock() else set()

    def vote(self) -> None:
        choice = self.chance.choice([Choice.VOTE, Choice.VOTE, Choice.OPPOSE, Choice.NONE])
        self.repository.votes.cast(self.any(), self.chance.randint(11, 19), choice)

    def remove(self) -> None:
        self.repository.articles.remove(self.any(), MODERATOR, "Spam")

    def restore(self) -> None:
        self.repository.articles.restore(self.any(), MODERATOR, "No spam")

    def merge(self) -> None:
        merge(self.repository, self.any(), self.any())

    def undo(self) -> None:
        undo(self.repository, self.any())

    def pass_time(self) -> None:
        let_pass(self.repository, self.clock, self.chance.choice([0.01, 1, 3]) * DAY)

    def find(self) -> None:
        """Begin to make records, as one of several processes."""
        for found in self.repository.ballots.find_closed():
            if found.ids:
                records = records_of(self.repository, found, next(self.versions))
                self.waiting.insert(self.chance.randint(0, len(self.waiting)), (found, records))

    def note(self) -> None:
        if self.waiting:
            found, records = self.waiting.pop()
            self.repository.ballots.note(found, records)
            counts = self.repository.ballots.get_counts([*records])
            self.noted |= {one: cast for one, (version, cast) in records.items() if counts[one][0] == version}

    def die(self) -> None:
        self.waiting[:1] = []

    def drop(self) -> None:
        known = {one: voters(self.repository, one) for one in self.articles}
        self.repository.clock.drop_voters(60)
        for one, before in known.items():
            if voters(self.repository, one) != before:
                assert one in self.noted
                assert by_choice(self.noted[one]) == before

    def end(self) -> None:
        """Let all close, and make all records."""
        let_pass(self.repository, self.clock, 50 * DAY)
        for _ in self.articles:
            self.find()
            while self.waiting:
                self.note()
        assert not any(found.ids or found.has_more for found in find(self.repository))
        assert self.votable <= self.noted.keys()
        for one, (version, *counts) in self.repository.ballots.get_counts([*self.noted]).items():
            cast, known = self.noted[one], voters(self.repository, one)
            assert version
            assert [cast.votes, cast.opposes] == counts
            assert by_choice(cast) == known or not any(known)


def by_choice(cast: Cast) -> tuple[set[str], set[str]]:
    """Return the voters of each choice."""
    chosen = cast.voters or {}
    votes, opposes = (
        {str(user) for user in chosen if chosen[user] is one} for one in (Choice.VOTE, Choice.OPPOSE)
    )
    return votes, opposes


@pytest.mark.deep
@pytest.mark.random
@pytest.mark.parametrize("run", range(4))
@pytest.mark.parametrize("small_batches", [3], indirect=True)
def test_no_voter_is_dropped_unrecorded_and_records_are_of_the_last_votes(small_batches, repository, clock, run):
    machine = Machine(repository, clock, SEED + run)
    acts = [machine.post, machine.add, machine.vote, machine.remove, machine.restore, machine.merge, machine.undo]
    acts += [
        machine.vote, machine.merge, machine.pass_time, machine.find, machine.note, machine.note, machine.drop,
    ]  # fmt: skip
    acts += [machine.die]
    machine.post()

    for _ in range(400):
        with suppress(ArticlesError):
            machine.chance.choice(acts)()

    machine.end()
    assert problems(repository) == []
