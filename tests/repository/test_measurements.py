"""The readings of the last 24 hours: when they are due, and that they are bounded."""

import pytest

from articles.domain.measurements import AHEAD, EVERY, KEPT, WebCounts
from articles.repository.store import keys as names
from tests.clock import DAY
from tests.store_state import problems

MOMENT = 1_700_006_400.0 + 7200  # a multiple of 300 after the clock's start, at 02:00 UTC


@pytest.fixture(autouse=True)
def at_a_moment(clock):
    clock.now = MOMENT


class Web:
    """A web server whose workers count."""

    def __init__(self):
        self.counts = WebCounts(MOMENT - 60, 0, 0, 0, {"0.1": 0, "+Inf": 0})

    def answer(self, requests, votes=0, views=0, errors=0):
        c = self.counts
        within = {bound: count + requests for bound, count in c.within.items()}
        self.counts = WebCounts(c.began, c.votes + votes, c.views + views, c.errors + errors, within)

    def read(self):
        return self.counts


@pytest.fixture
def web():
    return Web()


def measure(repository, web):
    """Make a reading, and return the measurement of it."""
    assert repository.measurements.record(web.read)
    return repository.measurements.list_recent()[-1]


def test_a_measurement_counts_what_happened_since_the_one_before(repository, clock, web):
    web.answer(1_000, votes=4)
    assert measure(repository, web).votes is None, "the first"

    clock.advance(30)
    web.answer(200, votes=5, views=4, errors=3)
    clock.advance(EVERY)
    measured = measure(repository, web)

    assert (measured.votes, measured.views, measured.errors) == (5, 4, 3)
    assert (measured.median_seconds, measured.p99_seconds) == (pytest.approx(0.05), pytest.approx(0.099))
    assert measured.at == MOMENT + EVERY
    assert problems(repository) == []


def test_each_moment_is_measured_once(repository, clock, web):
    assert repository.measurements.record(web.read)
    clock.advance(EVERY - 1)

    assert not repository.measurements.record(lambda: pytest.fail("read although nothing is due"))
    clock.advance(1)
    assert repository.measurements.record(web.read)
    assert [one.at for one in repository.measurements.list_recent()] == [MOMENT, MOMENT + EVERY]


def test_a_machine_without_a_web_server_records_nothing(repository):
    assert not repository.measurements.record(lambda: None)
    assert repository.measurements.list_recent() == []


def test_readings_are_kept_for_a_day_and_never_exceed_288(repository, clock, web):
    for _ in range(288 + 5):
        repository.measurements.record(web.read)
        clock.advance(EVERY)

    client = repository.store.client
    assert client.hlen(names.MEASUREMENTS) == 288
    assert client.memory_usage(names.MEASUREMENTS, samples=0) < 60_000
    assert KEPT - 5 <= client.ttl(names.MEASUREMENTS) <= KEPT
    measured = repository.measurements.list_recent()
    assert len(measured) == 287, "the first is 24 hours old by now"
    assert measured[-1].at - measured[0].at == 286 * EVERY


def test_old_readings_are_not_listed_even_without_newer_ones(repository, clock, web):
    measure(repository, web)

    clock.now = MOMENT + KEPT - 1
    assert len(repository.measurements.list_recent()) == 1
    clock.now = MOMENT + KEPT
    assert repository.measurements.list_recent() == []


def test_a_clock_set_back_a_little_adds_nothing_until_it_passes_the_newest(repository, clock, web):
    measure(repository, web)
    clock.now = MOMENT - EVERY

    assert not repository.measurements.record(web.read)
    clock.now = MOMENT + EVERY
    assert repository.measurements.record(web.read)


def test_readings_of_a_wrong_clock_are_dropped(repository, clock, web):
    clock.now = MOMENT + AHEAD + DAY
    measure(repository, web)
    clock.now = MOMENT

    assert repository.measurements.list_recent() == []
    assert measure(repository, web).at == MOMENT
    assert repository.store.client.hlen(names.MEASUREMENTS) == 1


@pytest.mark.needs("one server")
def test_recording_takes_two_round_trips_and_one_when_nothing_is_due(repository, web, wire):
    for due, trips in ((True, 2), (False, 1)):
        with wire.counted():
            assert repository.measurements.record(web.read) is due
        assert wire.trips == trips
    with wire.counted():
        repository.measurements.list_recent()
    assert wire.trips == 1


DAMAGED = [
    "", "[]", "null", "{", '{"votes": 1}',
    '{"began": 1, "votes": 1, "views": 1, "errors": 1, "within": {"x": 1}}',
]  # fmt: skip


def test_damaged_readings_are_left_out_and_other_fields_dropped(repository, clock, web):
    moments = [str(int(MOMENT) - n * EVERY) for n in range(1, len(DAMAGED) + 1)]
    repository.store.client.hset(
        names.MEASUREMENTS, mapping=dict(zip(moments, DAMAGED, strict=True)) | {"counters": "{}"}
    )

    assert repository.measurements.list_recent() == []
    measure(repository, web)

    assert [one.at for one in repository.measurements.list_recent()] == [MOMENT]
    assert not repository.store.client.hexists(names.MEASUREMENTS, "counters")
