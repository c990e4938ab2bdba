"""A primary is cut off from its replicas and sentinels, and some of the clients with it."""

import time
from dataclasses import replace

import pytest

from tests.chaos.ledger import CONFIRMED
from tests.chaos.machines.fleet import Fleet
from tests.chaos.machines.lines import CutOffReplication
from tests.chaos.stage import Row, scaled
from tests.topologies import binaries

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(0)]

CUT_SECONDS = scaled(20, 5)


@pytest.fixture(params=[binaries.redis_or_valkey, binaries.valkey], ids=["installed", "valkey"])
def store(request, stage):
    """Valkey waits for the last write of a connection, Redis for the last of all."""
    with CutOffReplication(stage.folder / "store", request.param(), down_after_ms=1000) as replication:
        yield replication
        stage.end()


def settings_of(store, **more):
    return {"REDIS_URL": store.url, **more}


def cut_off(store, fleet, seconds):
    """Cut the primary off for a while, with clients.

    Return the ledgers of both sides, the seconds until votes were taken again, and the answers to clients that
    were cut off.
    """
    primary = store.primary()
    *plans, direct = fleet.plans(direct_voters=4)
    beside = replace(direct, store_url=f"redis://{primary.address}")  # they do not ask Sentinel
    with fleet.crowd(*plans) as crowd, fleet.crowd(beside, kinds=["direct"]) as cut:
        with store.cut_off(primary):
            began = time.monotonic()
            recovery = crowd.recovery(began)
            new = store.until_failed_over(primary)
            cut.wait_past(began + seconds, "direct")
            ended = time.monotonic()
        store.until_whole()
        assert not primary.is_primary
        assert new.is_primary
        crowd.recovery(ended)
    alone = cut.ledger.of("direct", since=began + 1, until=ended)
    assert alone, "no client was cut off: the run proves nothing"
    return [crowd.ledger, cut.ledger], recovery, alone


def test_what_a_primary_takes_that_is_cut_off_is_never_confirmed(stage, store):
    fleet = Fleet(stage, settings_of(store, STORE_CONFIRM_REPLICAS="1"))
    ledgers, recovery, alone = cut_off(store, fleet, CUT_SECONDS)
    assert {event.status for event in alone}.isdisjoint(CONFIRMED)
    unconfirmed = sum(event.status == "StoreUnconfirmed" for event in alone)
    row = Row(13, f"primary cut off with its clients for {CUT_SECONDS} s; {unconfirmed} votes unconfirmed")
    row.recovery = recovery
    fleet.end(row, *ledgers)


@pytest.mark.parametrize("store", [binaries.redis_or_valkey], indirect=True)
def test_what_it_takes_without_confirmation_is_lost_and_counted(stage, store):
    fleet = Fleet(stage, settings_of(store))
    ledgers, recovery, _ = cut_off(store, fleet, CUT_SECONDS / 4)
    row = Row(13, f"the same for {CUT_SECONDS / 4:g} s, without confirmation", recovery=recovery)
    fleet.end(row, *ledgers, may_lose=True)
    assert row.lost, "a cut-off primary took no votes: the run proves nothing"
