"""The store's own clock: machines' clocks jump, ahead and back, and no vote is lost or counted twice."""

import pytest

from articles.domain.articles import Choice
from articles.domain.errors import VotingClosed
from articles.repository import Repository
from articles.repository.upkeep import clock as store_clock
from tests.cast import ALICE, BOB, CAROL, MODERATOR
from tests.clock import DAY, Clock
from tests.factories import imported, post
from tests.repository.usage import let_pass
from tests.store_state import problems

HOUR = 3600.0


@pytest.fixture
def uptime(monkeypatch) -> Clock:
    """Seconds since the machine started; a change of its clock does not affect them."""
    seconds = Clock(1000.0)
    monkeypatch.setattr(store_clock, "uptime", seconds)
    return seconds


@pytest.fixture
def kept(repository, uptime) -> Repository:
    """A store on which housekeeping has run."""
    repository.clock.advance()
    return repository


def keep_house(repository: Repository) -> int:
    repository.clock.advance()
    return repository.clock.drop_voters(60)


def voters(repository: Repository, article_id: int) -> set[str]:
    """Return who voted or opposed."""
    keys = repository.store.shards.of(article_id)
    return repository.store.client.sunion(keys.voted(article_id), keys.oppose(article_id))


def own(repository: Repository) -> float:
    return repository.clock.compare().store


# The clock itself


def test_it_follows_the_machines_clock(kept, clock, uptime):
    for seconds in (10, 10, 3600, 0.5):
        clock.advance(seconds)
        uptime.advance(seconds)
        kept.clock.advance()
        assert own(kept) == clock()


def test_it_passes_at_most_twice_as_fast_as_time(kept, clock, uptime):
    began = clock()
    clock.advance(8 * DAY)
    uptime.advance(60)

    for _ in range(3):  # a repetition does not advance it again
        kept.clock.advance()

    assert own(kept) == began + 120


def test_it_never_goes_back(kept, clock, uptime):
    began = clock()
    clock.advance(-8 * DAY)
    uptime.advance(60)

    kept.clock.advance()

    assert own(kept) == began


@pytest.mark.parametrize("change", ["another start", "less uptime"])
def test_after_a_restart_of_the_machine_it_advances_by_one_interval(kept, clock, uptime, monkeypatch, change):
    began = clock()
    clock.advance(8 * DAY)
    if change == "another start":
        monkeypatch.setattr(store_clock, "machine_start", lambda: "another")
        uptime.advance(HOUR)
    else:
        uptime.advance(-500)

    kept.clock.advance()

    advanced = {"another start": 2 * store_clock.INTERVAL, "less uptime": 0}
    assert own(kept) == began + advanced[change]


def test_it_catches_up_after_a_stop_of_the_site(kept, clock, uptime, monkeypatch):
    clock.advance(3 * DAY)
    monkeypatch.setattr(store_clock, "machine_start", lambda: "another")
    for _ in range(3 * 24 + 2):
        clock.advance(HOUR)
        uptime.advance(HOUR)
        kept.clock.advance()

    assert own(kept) == clock()


def test_the_operator_can_set_it(kept, clock):
    for seconds in (30 * DAY, -60 * DAY):
        clock.advance(seconds)
        kept.clock.accept()
        assert own(kept) == clock()


# Machines' clocks jump


def test_a_clock_ahead_for_an_hour_drops_no_voters_and_closes_nothing_for_good(kept, clock, uptime):
    number = post(kept, 1)
    kept.votes.cast(number, BOB, Choice.OPPOSE)

    clock.advance(8 * DAY)
    for _ in range(6):
        uptime.advance(600)
        assert keep_house(kept) == 0
    with pytest.raises(VotingClosed):
        kept.votes.cast(number, CAROL, Choice.VOTE)
    clock.advance(-8 * DAY + HOUR)

    assert kept.votes.cast(number, BOB, Choice.OPPOSE).opposes == 1
    assert kept.votes.cast(number, CAROL, Choice.VOTE).votes == 2
    assert voters(kept, number) == {str(ALICE), str(BOB), str(CAROL)}
    assert problems(kept) == []


def test_a_clock_ahead_trims_no_choice_on_an_open_article(kept, clock, uptime):
    number = post(kept, 1)
    kept.votes.cast(number, BOB, Choice.VOTE)
    keys = kept.store.shards.of(number)
    others = {str(other): clock() + other / 1000 for other in range(5000, 6001)}
    kept.store.client.zadd(keys.votes_of(BOB), others)
    clock.advance(20 * DAY)

    for other in range(2, 6):
        kept.votes.cast(post(kept, other), BOB, Choice.VOTE)

    assert kept.store.client.zscore(keys.votes_of(BOB), number)


def test_what_is_closed_stays_closed_when_the_clock_is_set_back(kept, clock, uptime):
    number = post(kept, 1)
    for seconds in (7 * DAY, 1):
        clock.advance(seconds)
        uptime.advance(seconds)
    keep_house(kept)

    clock.advance(-HOUR)

    with pytest.raises(VotingClosed):
        kept.votes.cast(number, BOB, Choice.VOTE)
    assert problems(kept) == []


# Voter sets


def test_voter_sets_are_dropped_two_days_after_voting_ended(kept, clock):
    first, second, removed = (post(kept, n) for n in range(1, 4))
    kept.votes.cast(second, BOB, Choice.OPPOSE)
    kept.articles.remove(removed, MODERATOR, "Spam")
    let_pass(kept, clock, 9 * DAY)
    later = post(kept, 4)

    assert kept.clock.drop_voters(60) == 0
    let_pass(kept, clock, 0.001)
    assert kept.clock.drop_voters(60) == 4

    assert [voters(kept, n) for n in (first, second, removed)] == [set(), set(), set()]
    assert voters(kept, later) == {str(ALICE)}
    assert problems(kept) == []


@pytest.mark.parametrize("small_batches", [1, 2, 3], indirect=True)
@pytest.mark.needs("few shards")
def test_voter_sets_are_dropped_in_steps(small_batches, kept, clock):
    numbers = []
    for n in range(24):
        numbers.append(post(kept, n))
        clock.advance(n % 3)  # several at the same moment
    for n in numbers[::5]:
        kept.articles.remove(n, MODERATOR, "Spam")
    let_pass(kept, clock, 9 * DAY)

    dropped = [kept.clock.drop_voters(0) for _ in range(30)]

    assert sum(dropped) == 24
    assert dropped[0] < 24
    assert dropped[-1] == 0
    assert all(voters(kept, n) == set() for n in numbers)
    assert problems(kept) == []


def test_voters_of_an_article_that_is_open_for_longer_are_kept_as_long(kept, clock):
    let_pass(kept, clock, 30 * DAY)
    kept.clock.drop_voters(60)
    (number,) = kept.imports.add([imported(1, clock() - 20 * DAY, closes_at=clock() + 5 * DAY)])
    known = voters(kept, number)

    for days, expected in ((6.9, known), (0.2, set())):
        let_pass(kept, clock, days * DAY)
        kept.clock.drop_voters(60)
        assert voters(kept, number) == expected
        assert problems(kept) == []


def test_without_a_clock_nothing_is_dropped(kept, clock):
    number = post(kept, 1)
    clock.advance(100 * DAY)
    for keys in kept.store.shards.all:
        kept.store.client.hdel(keys.ranking, "clock")

    assert kept.clock.drop_voters(60) == 0
    assert voters(kept, number) == {str(ALICE)}
