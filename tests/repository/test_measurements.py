"""The measurements of the last 24 hours: what they count, when they are due, and that they are bounded."""

import json

import fakeredis
import pytest

from articles.domain.measurements import AHEAD, EVERY, KEPT, LONGEST, Measurement, WebCounts
from articles.repository.store import keys as names
from tests.cast import MODERATOR
from tests.clock import DAY
from tests.every_server import delete
from tests.factories import imported, post, view
from tests.rules import connect
from tests.store_state import problems

MOMENT = 1_700_006_400.0 + 7200
"""A multiple of 300 after the clock's start, at 02:00 UTC."""


@pytest.fixture(autouse=True)
def at_a_moment(clock):
    clock.now = MOMENT


class Web:
    """A web server whose workers count."""

    def __init__(self, began=MOMENT - 60):
        self.counts = WebCounts(began, 0, 0, 0, {"0.1": 0, "+Inf": 0})

    def answer(self, requests, errors=0, votes=0):
        c = self.counts
        within = {bound: count + requests for bound, count in c.within.items()}
        self.counts = WebCounts(c.began, c.requests + requests, c.errors + errors, c.votes + votes, within)

    def read(self):
        return self.counts


@pytest.fixture
def web():
    return Web()


def away():
    """No web server runs on this machine."""


def measure(repository, read_web=away):
    """Record a measurement and return it."""
    assert repository.measurements.record(read_web)
    return repository.measurements.list_recent()[-1]


def test_a_measurement_counts_what_happened_since_the_one_before(repository, clock, web):
    clock.advance(-1)
    article = post(repository, 1)
    web.answer(10)
    clock.advance(1)
    assert measure(repository, web.read).requests == 10
    assert repository.measurements.list_recent()[-1].posts == 1

    clock.advance(30)
    post(repository, 2)
    repository.articles.remove(post(repository, 3), MODERATOR, "Spam")
    for visitor in range(4):
        view(repository, article, visitor)
    web.answer(200, errors=3, votes=5)
    clock.advance(EVERY)
    measured = measure(repository, web.read)

    assert (measured.posts, measured.views) == (2, 4)
    assert (measured.requests, measured.errors, measured.votes) == (200, 3, 5)
    assert (measured.median_seconds, measured.p99_seconds) == (0.05, 0.099)
    assert measured.memory_bytes > 100_000
    assert measured.file_bytes > 0
    assert measured.at == MOMENT + EVERY
    assert problems(repository) == []


def test_a_quiet_interval_counts_zero(repository, clock, web):
    measure(repository, web.read)
    clock.advance(EVERY)

    measured = measure(repository, web.read)

    assert (measured.posts, measured.views, measured.requests, measured.errors, measured.votes) == (0, 0, 0, 0, 0)
    assert (measured.median_seconds, measured.p99_seconds) == (None, None)


def test_each_moment_is_measured_once(repository, clock, web):
    assert repository.measurements.record(web.read)
    clock.advance(EVERY - 1)

    assert not repository.measurements.record(lambda: pytest.fail("read although nothing is due"))
    clock.advance(1)
    assert repository.measurements.record(web.read)
    assert [one.at for one in repository.measurements.list_recent()] == [MOMENT, MOMENT + EVERY]


def test_views_are_counted_across_midnight(repository, clock):
    article = post(repository, 1)
    clock.now = MOMENT - 7200 + DAY - 10
    measure(repository)
    view(repository, article, 1)
    clock.advance(15)
    view(repository, article, 2)
    clock.advance(EVERY)

    assert measure(repository).views == 2


def test_imported_articles_of_earlier_times_are_no_posts(repository, clock):
    measure(repository)
    repository.imports.add([imported(n, MOMENT - DAY - n) for n in range(5)])
    clock.advance(EVERY)

    assert measure(repository).posts == 0


def test_articles_posted_during_a_missed_measurement_are_counted_with_the_next(repository, clock):
    measure(repository)
    clock.advance(EVERY + 1)
    post(repository, 1)
    clock.advance(EVERY)

    assert measure(repository).posts == 1


def test_a_restarted_web_server_counts_from_zero(repository, clock, web):
    web.answer(1_000_000)
    measure(repository, web.read)
    clock.advance(EVERY)
    restarted = Web(began=clock.now - 100)
    restarted.answer(40)

    assert measure(repository, restarted.read).requests == 40


def test_counts_lost_in_between_are_not_known_and_the_next_are(repository, clock, web):
    web.answer(1_000_000)
    measure(repository, web.read)
    web.answer(-600_000)
    clock.advance(EVERY)
    assert measure(repository, web.read).requests is None

    web.answer(7)
    clock.advance(EVERY)
    assert measure(repository, web.read).requests == 7


def test_views_whose_counters_were_deleted_are_not_known(repository, clock):
    article = post(repository, 1)
    view(repository, article, 1)
    measure(repository)
    delete(repository.store.client, *(keys.days() for keys in repository.store.shards.all))
    clock.advance(EVERY)

    assert measure(repository).views is None
    assert "views" not in json.loads(repository.store.client.hget(names.MEASUREMENTS, str(int(MOMENT) + EVERY)))


def test_after_a_long_silence_counts_are_not_known_and_gauges_are(repository, clock, web):
    article = post(repository, 1)
    measure(repository, web.read)
    view(repository, article, 1)
    web.answer(1_000_000)
    clock.advance(LONGEST + EVERY)

    measured = measure(repository, web.read)

    assert (measured.requests, measured.views, measured.posts) == (None, None, None)
    assert measured.memory_bytes > 0


def test_a_machine_without_a_web_server_measures_the_store(repository, clock, web):
    web.answer(10)
    assert measure(repository, web.read).requests == 10
    clock.advance(EVERY)
    measured = measure(repository)

    assert (measured.requests, measured.errors, measured.votes, measured.p99_seconds) == (None, None, None, None)
    assert (measured.posts, measured.views) == (0, 0)
    assert measured.memory_bytes > 0
    clock.advance(EVERY)
    assert measure(repository, web.read).requests is None, "the one before says nothing of this machine"


def test_measurements_are_kept_for_a_day_and_never_exceed_288(repository, clock, web):
    for _ in range(288 + 5):
        repository.measurements.record(web.read)
        clock.advance(EVERY)

    client = repository.store.client
    assert client.hlen(names.MEASUREMENTS) == 288 + 1, "the measurements, and the counters"
    assert client.memory_usage(names.MEASUREMENTS, samples=0) < 60_000
    assert KEPT - 5 <= client.ttl(names.MEASUREMENTS) <= KEPT
    measured = repository.measurements.list_recent()
    assert len(measured) == 287, "the first is 24 hours old by now"
    assert measured[-1].at - measured[0].at == 286 * EVERY


def test_old_measurements_are_not_listed_even_without_newer_ones(repository, clock):
    measure(repository)

    clock.now = MOMENT + KEPT - 1
    assert len(repository.measurements.list_recent()) == 1
    clock.now = MOMENT + KEPT
    assert repository.measurements.list_recent() == []


def test_a_clock_set_back_a_little_adds_nothing_until_it_passes_the_newest(repository, clock):
    measure(repository)
    clock.now = MOMENT - EVERY

    assert not repository.measurements.record(away)
    clock.now = MOMENT + EVERY
    assert repository.measurements.record(away)


def test_measurements_of_a_wrong_clock_are_dropped(repository, clock):
    clock.now = MOMENT + AHEAD + DAY
    measure(repository)
    clock.now = MOMENT

    assert repository.measurements.list_recent() == []
    assert measure(repository).at == MOMENT
    assert repository.store.client.hlen(names.MEASUREMENTS) == 2


@pytest.mark.needs("one server")
def test_recording_takes_two_round_trips_and_one_when_nothing_is_due(repository, clock, wire):
    for due, trips in ((True, 2), (False, 1)):
        with wire.counted():
            assert repository.measurements.record(away) is due
        assert wire.trips == trips
    with wire.counted():
        repository.measurements.list_recent()
    assert wire.trips == 1


DAMAGED = ["", "[]", "null", "{", '{"votes": "x"}', '{"votes": -1, "posts": NaN}', '{"odd": 1}']


def test_damaged_measurements_are_left_out(repository, clock):
    measure(repository)
    moments = [str(int(MOMENT) - n * EVERY) for n in range(1, len(DAMAGED) + 1)]
    repository.store.client.hset(
        names.MEASUREMENTS, mapping=dict(zip(moments, DAMAGED, strict=True)) | {"x": "{}"}
    )

    *damaged, sound = repository.measurements.list_recent()

    assert sound.memory_bytes > 0
    assert set(damaged) == {Measurement(float(at)) for at in moments[4:]}
    assert len(problems(repository)) == 1


@pytest.mark.parametrize("damaged", [*DAMAGED, '{"at": 1}', '{"at": "x", "views": 3, "web": null}'])
def test_damaged_counters_are_not_known(repository, clock, web, damaged):
    measure(repository, web.read)
    repository.store.client.hset(names.MEASUREMENTS, "counters", damaged)
    clock.now = MOMENT + LONGEST + EVERY

    measured = measure(repository, web.read)

    assert (measured.requests, measured.views) == (None, None)
    counters = json.loads(repository.store.client.hget(names.MEASUREMENTS, "counters"))
    assert set(counters) == {"at", "views", "web"}


def test_a_server_that_refuses_info_is_measured_without_memory(clock):
    repository = connect(fakeredis.FakeRedis(decode_responses=True), clock=clock)

    measured = measure(repository)

    assert (measured.memory_bytes, measured.file_bytes, measured.posts) == (None, None, 0)
