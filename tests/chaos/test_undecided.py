"""The histories that the crowd writes are explained if the store works, and not if it loses votes."""

import random

import pytest

from articles.domain.articles import Choice
from tests.chaos.histories.operations import FAIL, INFO, OK, read_history
from tests.chaos.histories.verdict import judge
from tests.chaos.undecided import decide

pytestmark = pytest.mark.fast

MEMBERS = [{"id": str(member), "token": ""} for member in range(1, 4)]


class Store:
    """Choices in memory. It loses every so many confirmed writes; some replies are lost, some writes refused."""

    def __init__(self, loses_every: int) -> None:
        self._chance = random.Random(1)
        self._choices: dict[tuple[str, int], Choice] = {}
        self._loses_every = loses_every
        self._writes = 0

    def set(self, member, article, choice):
        self._writes += 1
        fate = self._chance.random()
        if fate < 0.1:
            return FAIL
        if fate < 0.99 and self._writes % self._loses_every:
            self._choices[member["id"], article] = choice
        return OK if fate < 0.98 else INFO

    def read(self, member, article):
        return OK, self._choices.get((member["id"], article), Choice.NONE)


class Moments:
    """A flag that is set after so many looks."""

    def __init__(self, looks: int) -> None:
        self._left = looks

    def wait(self, _seconds):
        self._left -= 1
        return self._left < 0


def verdict_on(store, path):
    decide(path, MEMBERS, 2, store, Moments(1500), "seed")
    return judge(read_history(path))


def test_the_history_of_a_store_that_works_is_explained(tmp_path):
    verdict = verdict_on(Store(loses_every=10**9), tmp_path / "history")

    assert verdict.operations > 1000
    assert verdict.failures == [], verdict


def test_the_history_of_a_store_that_loses_a_vote_is_not(tmp_path):
    assert verdict_on(Store(loses_every=50), tmp_path / "history").failures
