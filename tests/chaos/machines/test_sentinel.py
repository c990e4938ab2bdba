"""The primary dies, or its replicas lag, under votes and reads on a store that Sentinel watches."""

import time

import pytest

from tests.chaos.ledger import CONFIRMED
from tests.chaos.machines.fleet import AGAIN_SECONDS, Fleet
from tests.chaos.stage import PATIENCE, Row, scaled
from tests.site_process import DEADLINE
from tests.topologies.node import HOST
from tests.topologies.replication import Replication
from tests.waiting import until

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(0)]

ARTICLES = 1000
KILLS, VOTES = scaled(10, 1), scaled(50_000, 300)
LEFT_TO_SENTINEL = scaled(2, 0)  # old primaries that Sentinel makes replicas; their operator tells the others
SENTINEL_SECONDS = 25.0 * PATIENCE
"""Time for that: Sentinel looks at servers every ten seconds, and waits eight before it changes one."""

ON_DISK = {"appendonly": "yes", "appendfsync": "always"}
"""As deploy/store.conf has it. Without, a killed primary comes back empty, and Sentinel may promote it again."""


@pytest.fixture
def store(stage):
    with Replication(stage.folder / "store", down_after_ms=1000, settings=ON_DISK) as replication:
        yield replication
        stage.end()


def settings_of(store, **more):
    return {"REDIS_URL": store.url, **more}


def kill_primaries(store, crowd, kills, votes):
    """Kill the primary so many times, and take it back as a replica; return the seconds until votes are taken."""
    recoveries = []
    for number in range(kills):
        crowd.wait_for(votes * (number + 1) // kills - len(crowd.ledger.votes), "direct")
        crowd.wait_for(10)
        primary = store.primary()
        killed_at = time.monotonic()
        primary.kill()
        new = store.until_failed_over(primary)
        primary.restart()  # without it, only one replica confirms what the new primary takes
        if number >= LEFT_TO_SENTINEL:
            primary.client.replicaof(HOST, new.port)
        recoveries.append(crowd.recovery(killed_at))
        store.until_whole()
    return recoveries


def test_a_killed_primary_loses_no_confirmed_vote(stage, store):
    own = {"STORE_CONFIRM_REPLICAS": str(len(store.replicas())), "STORE_READ_REPLICAS": "1"}
    fleet = Fleet(stage, settings_of(store, **own), ARTICLES)
    with fleet.crowd(*fleet.plans(direct_voters=8, direct_undecided=3)) as crowd:
        recoveries = kill_primaries(store, crowd, KILLS, VOTES)
        crowd.wait_for(VOTES - len(crowd.ledger.votes), "direct")
    assert len(crowd.ledger.votes) >= VOTES
    by_sentinel, by_operator = recoveries[:LEFT_TO_SENTINEL], recoveries[LEFT_TO_SENTINEL:]
    event = f"Sentinel: primary killed, {KILLS} times; confirmed by both replicas"
    if by_sentinel:
        event += f"; {max(by_sentinel):.1f} s if Sentinel takes the old primary back"
    fleet.end(Row(12, event, recovery=max(by_operator)), crowd.ledger)
    assert max(by_sentinel, default=0.0) <= SENTINEL_SECONDS


def test_what_a_killed_primary_loses_without_confirmation_is_counted(stage, store):
    fleet = Fleet(stage, settings_of(store), ARTICLES)
    with fleet.crowd(*fleet.plans(direct_voters=8)) as crowd:
        recoveries = kill_primaries(store, crowd, scaled(3, 1), VOTES // 3)
    row = Row(12, f"the same without confirmation, {len(recoveries)} times", recovery=max(recoveries))
    fleet.end(row, crowd.ledger, may_lose=True)


def test_votes_that_lagging_replicas_cannot_confirm_are_never_confirmed(stage, store):
    fleet, seconds = Fleet(stage, settings_of(store, STORE_CONFIRM_REPLICAS="1")), scaled(5, 2)
    one, other = store.replicas()
    with fleet.crowd(*fleet.plans(direct_voters=4)) as crowd:
        with one.frozen():
            began = time.monotonic()
            crowd.wait_past(began + seconds)
            assert crowd.recovery(began) <= AGAIN_SECONDS, "the other replica confirms"
            with other.frozen():
                began = time.monotonic()
                crowd.wait_past(began + seconds)
                ended = time.monotonic()
        recovery = crowd.recovery(ended)
    answers = [event for event in crowd.ledger.of("vote", "direct", since=began) if event.at <= ended]
    assert answers
    assert [event for event in answers if event.status in CONFIRMED] == []
    until(lambda: fleet.site.get("/readyz")[0] == 200, DEADLINE, fleet.site.told)
    row = Row(12, f"Sentinel: replicas lag, one and then both, {seconds} s each", recovery=recovery)
    fleet.end(row, crowd.ledger)
