"""A site whose articles close when a test says so, with the records that housekeeping makes of them."""

from collections.abc import Callable

import pytest

from articles.repository import Repository
from integrity import recording
from integrity.ballots import Record
from integrity.models import BallotRecord
from integrity.verifying import verify
from tests.clock import DAY, Clock
from tests.store_state import set_clock


@pytest.fixture
def time_of(site_store: Repository) -> Clock:
    """The clock of the site."""
    now = Clock(site_store.store.now())
    set_clock(site_store, now)
    site_store.clock.accept()
    return now


@pytest.fixture
def let_pass(site_store: Repository, time_of: Clock) -> Callable[[float], int]:
    """A function that lets days pass and makes the records that are due then; it returns how many."""

    def days(number: float) -> int:
        time_of.advance(number * DAY)
        site_store.clock.accept()
        return recording.record_closed(site_store, 60)

    return days


@pytest.fixture
def close(let_pass: Callable[[float], int]) -> Callable[[], int]:
    """A function that lets voting on all articles end, and records it."""
    return lambda: let_pass(7.01)


def verified(repository: Repository) -> list[str]:
    """Return what is wrong with the records, the chain and the reports of the site."""
    return list(verify(repository, lambda *_: None, waits=()))


def record_of(article: int, version: int | None = None) -> Record:
    """Return the record of an article, the latest version or this one."""
    rows = BallotRecord.objects.filter(article_id=article).order_by("-version")
    row = rows.get(version=version) if version else rows[0]
    return Record.unpacked(bytes(row.ballots))
