"""The store dies, hangs, loads, is busy, full or read-only, while members vote and readers read."""

import time

import pytest

from articles.domain.lists import Order
from tests.chaos.stage import PATIENCE, Row, check_outage, end_row, kill, scaled
from tests.site_process import DEADLINE, store_of
from tests.slow_store import slow_loading_in
from tests.store_state import lose_ranking
from tests.waiting import until
from tests.web_processes import hanging_store, store_of as store_process
from voting_site.embedded import StorePaths, Supervisor

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(0)]

KILLS, VOTES = scaled(20, 3), scaled(100_000, 500)


def test_a_killed_store_loses_no_vote_and_is_back_within_three_seconds(stage):
    """Most votes are cast by processes that use the store directly; readers and other voters use HTTP."""
    site = stage.start(stage.data("large"))
    url = StorePaths(site.data_dir).url(0)
    recoveries = []
    http = stage.plan(site, voters=3, readers=2)
    half = len(http.members) // 2
    direct = stage.plan(site, voters=0, readers=0, direct_voters=24, store_url=url, seed=2)
    http.members, direct.members = http.members[:half], direct.members[half:]
    with stage.crowd(site, http, direct) as crowd:
        for number in range(KILLS):
            crowd.wait_for(VOTES * (number + 1) // KILLS - len(crowd.ledger.votes), "direct")
            crowd.wait_for(10)
            killed_at = kill(store_process(site))
            recoveries.append(crowd.recovery(killed_at))
    assert len(crowd.ledger.votes) >= VOTES
    end_row(Row(1, f"kill -9 of the store, {KILLS} times", recovery=max(recoveries)), site, crowd.ledger)


def test_a_stopped_store_is_answered_for_by_copies(stage):
    site = stage.start(stage.data())
    with stage.crowd(site) as crowd:
        with hanging_store(store_process(site)):
            began = time.monotonic()
            crowd.wait_past(began + scaled(10, 3))
            check_outage(crowd.ledger, began, time.monotonic())
            assert [site.get(path)[0] for path in ("/healthz", "/readyz")] == [200, 503]
        recovery = crowd.recovery(time.monotonic())
    end_row(Row(3, "store stopped for 10 s", recovery=recovery), site, crowd.ledger)


def test_a_site_without_its_store_serves_copies_and_recovers_alone(stage):
    """Once with the store away for a while, and once with none at the start."""
    paths = StorePaths(stage.data(name="elsewhere"))
    store = Supervisor(paths)
    store.start(DEADLINE)
    site = stage.start(stage.data(), REDIS_URL=paths.url(0))
    before, after = stage.plan(site), stage.plan(site)
    before.members, after.members = before.members[:100], after.members[100:]
    try:
        with stage.crowd(site, before) as crowd:
            store.stop()
            began = time.monotonic()
            crowd.wait_past(began + scaled(30, 3))
            check_outage(crowd.ledger, began, time.monotonic())
            store.start(DEADLINE)
            recovery = crowd.recovery(time.monotonic())
        end_row(Row(4, "no store for 30 s", recovery=recovery), site, crowd.ledger)
        site.stop()
        store.stop()
        site = stage.begin(site.data_dir, REDIS_URL=paths.url(0), PORT=str(site.port))
        site.wait_until_up()
        with stage.crowd(site, after, outage=True) as crowd:
            began = time.monotonic()
            crowd.wait_past(began + scaled(5, 2))
            check_outage(crowd.ledger, began, time.monotonic())
            assert [site.get(path)[0] for path in ("/healthz", "/readyz", "/")] == [200, 503, 200]
            store.start(DEADLINE)
            recovery = crowd.recovery(time.monotonic())
            until(lambda: site.get("/readyz")[0] == 200, DEADLINE, site.told)
        end_row(Row(4, "no store at the start", recovery=recovery), site, crowd.ledger)
        stage.end()
    finally:
        store.stop()


def test_a_site_whose_store_is_loading_starts_and_serves_copies(stage, tmp_path):
    """The server pauses at each key that it loads, as with a file that is many times as large."""
    site = stage.start(stage.data())
    assert site.stop() == 0
    began = time.monotonic()
    site = stage.begin(
        site.data_dir, PORT=str(site.port), **slow_loading_in(tmp_path / "slow", microseconds=scaled(4000, 1500))
    )
    site.wait_until_up()
    started = time.monotonic() - began
    with stage.crowd(site, outage=True) as crowd:
        began = time.monotonic()
        crowd.wait_past(began + 1)
        check_outage(crowd.ledger, began, time.monotonic())
        assert [site.get(path)[0] for path in ("/healthz", "/readyz", "/")] == [200, 503, 200]
        assert "the store is loading" in site.told()
        until(lambda: "the store is up" in site.told(), DEADLINE, site.told)
        recovery = crowd.recovery(time.monotonic())
    assert started < 10 * PATIENCE
    end_row(Row(7, "store loading a large file at the start", recovery=recovery), site, crowd.ledger)


def test_deleted_rankings_are_rebuilt_within_a_minute(stage):
    site = stage.start(stage.data("large"))
    with stage.crowd(site) as crowd:
        for order in (Order.SCORE, Order.TIME, Order.POINTS):
            lose_ranking(store_of(site), order)
        began = time.monotonic()
        repaired = site.manage("repair")
        seconds = time.monotonic() - began
        assert repaired.returncode == 0, repaired.stdout + repaired.stderr
        crowd.recovery(time.monotonic())
    assert seconds <= 60 * PATIENCE
    row = Row(23, f"rankings deleted by hand, `repair` in {seconds:.1f} s")
    end_row(row, site, crowd.ledger)
