"""The store replies late, in pieces, wrongly or not at all, while members vote and readers read."""

import time
from contextlib import contextmanager, suppress
from threading import Event, Thread

import pytest
import redis

from tests.chaos.crowd import KEPT
from tests.chaos.ledger import Crowd
from tests.chaos.proxies import proxy
from tests.chaos.stage import Row, check_outage, end_row, scaled
from tests.site_process import DEADLINE, store_of
from tests.store_state import configured, read_only_replica
from tests.waiting import until
from voting_site.embedded import StorePaths, Supervisor

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(0)]

FAULT_SECONDS = scaled(6, 2)


@pytest.fixture
def behind_proxy(stage, tmp_path):
    """A site whose own store is behind a proxy, and the proxy."""
    store = Supervisor(StorePaths(stage.data(name="elsewhere")))
    store.start(DEADLINE)
    socket = tmp_path / "proxy.sock"
    with proxy(socket, store.paths.socket) as line:
        yield stage.start(stage.data(), REDIS_URL=f"unix://{socket}"), line
        stage.end()
    store.stop()


@contextmanager
def repeatedly(action, seconds: float):
    """Do this every so many seconds inside the block."""
    enough = Event()

    def run() -> None:
        while not enough.wait(seconds):
            action()

    thread = Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        enough.set()
        thread.join()


def suffer(crowd: Crowd, seconds: float = FAULT_SECONDS) -> tuple[float, float]:
    """Let the crowd go on for a while; return begin and end."""
    began = time.monotonic()
    crowd.wait_past(began + seconds)
    return began, time.monotonic()


def ready(site) -> tuple[int, str]:
    status, text = site.get("/readyz")
    return status, text


def test_a_full_store_refuses_votes_and_serves_readers(stage):
    site = stage.start(stage.data())
    store = store_of(site)
    with stage.crowd(site) as crowd:
        with configured(store, "maxmemory", "1"):
            began, ended = suffer(crowd)
            assert crowd.ledger.statuses("vote", since=began, until=ended) == {"503"}
            assert {event.note for event in crowd.ledger.of("read", since=began, until=ended)}.isdisjoint({KEPT})
            assert site.get("/readyz")[0] == 503
        recovery = crowd.recovery(time.monotonic())
    end_row(Row(8, "memory limit of the store reached", recovery=recovery), site, crowd.ledger)


def test_a_read_only_replica_refuses_votes_until_it_is_a_primary_again(stage):
    site = stage.start(stage.data())
    with stage.crowd(site) as crowd:
        with read_only_replica(store_of(site)):
            began, ended = suffer(crowd)
            assert crowd.ledger.statuses("vote", since=began, until=ended) == {"503"}
            assert site.get("/readyz")[0] == 503
        recovery = crowd.recovery(time.monotonic())
    end_row(Row(11, "the store is a read-only replica", recovery=recovery), site, crowd.ledger)


@pytest.mark.short
def test_lost_replies_count_each_vote_once_and_every_answer_is_true(stage, behind_proxy):
    site, line = behind_proxy
    with stage.crowd(site) as crowd:
        line.line.loses = 0.05
        crowd.wait_for(scaled(500, 30))
        until(lambda: line.line.lost >= scaled(50, 3), DEADLINE)
        line.line.loses = 0.0
        recovery = crowd.recovery(time.monotonic())
    end_row(Row(15, f"5 % of replies lost ({line.line.lost})", recovery=recovery), site, crowd.ledger)


def test_a_slow_line_is_answered_for_within_the_deadline(stage, behind_proxy):
    site, line = behind_proxy
    recoveries = []
    with stage.crowd(site) as crowd:
        for fault in (
            {"delay": 0.2}, {"delay": 0.05, "jitter": 0.6}, {"byte_pause": 0.001},
            {"byte_pause": 0.05}, {"is_half_open": True},
        ):  # fmt: skip
            vars(line.line).update(fault)
            suffer(crowd)
            vars(line.line).update(delay=0.0, jitter=0.0, byte_pause=None, is_half_open=False)
            recoveries.append(crowd.recovery(time.monotonic()))
            until(lambda: ready(site)[0] == 200, DEADLINE, site.told)
        until(lambda: line.line.open <= 40, DEADLINE, lambda: str(line.line))
    assert line.line.most_open <= 100, "two workers with two threads, the launcher, and abandoned connections"
    row = Row(16, "latency 200 ms, jitter, one byte at a time, half-open", recovery=max(recoveries))
    end_row(row, site, crowd.ledger)


def test_forgotten_scripts_and_closed_connections_are_not_noticed_by_readers(stage):
    site = stage.start(stage.data())
    store = store_of(site).store.client

    def disturb() -> None:
        store.script_flush()
        try:
            store.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        except redis.RedisError:
            return

    with stage.crowd(site) as crowd:
        with repeatedly(disturb, 1.0):
            began, ended = suffer(crowd, 2.5 * FAULT_SECONDS)
        recovery = crowd.recovery(time.monotonic())
    reads = crowd.ledger.of("read", since=began, until=ended)
    end_row(Row(17, "SCRIPT FLUSH and CLIENT KILL every second", recovery=recovery), site, crowd.ledger)
    assert [event for event in reads if event.note == KEPT] == []


def test_a_busy_store_refuses_votes_and_readers_see_copies(stage):
    site = stage.start(stage.data())
    store = store_of(site)

    def keep_busy() -> None:
        with suppress(redis.ResponseError):  # it is killed
            store.store.client.eval("while true do end", 0)

    with stage.crowd(site) as crowd, configured(store, "busy-reply-threshold", "100"):
        busy = Thread(target=keep_busy)
        began = time.monotonic()
        busy.start()
        crowd.wait_past(began + FAULT_SECONDS)
        check_outage(crowd.ledger, began + 0.2, time.monotonic())
        other = store_of(site).store.client
        ended = time.monotonic()
        other.script_kill()
        busy.join()
        recovery = crowd.recovery(ended)
    end_row(Row(18, "store busy with a long script", recovery=recovery), site, crowd.ledger)
