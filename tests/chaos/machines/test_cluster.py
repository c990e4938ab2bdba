"""Primaries of a cluster die, slots move, nodes come and go, under votes and reads."""

import time

import pytest

from tests.chaos.crowd import KEPT
from tests.chaos.ledger import CONFIRMED
from tests.chaos.machines.fleet import Fleet, most_repeated
from tests.chaos.stage import PATIENCE, Row, scaled
from tests.topologies.cluster import Cluster
from tests.topologies.topology import OneServer

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(0)]

KILLS, VOTES = scaled(10, 2), scaled(50_000, 300)
ARTICLES = 1000
SHARDS = 48
GONE_SECONDS = scaled(60, 5)


@pytest.fixture
def cache(stage):
    with OneServer(stage.folder / "cache") as server:
        yield server


@pytest.fixture
def store(stage, cache):
    with Cluster(stage.folder / "store") as cluster:
        yield cluster
        stage.end()


@pytest.fixture
def bare_store(stage, cache):
    """Three primaries without replicas, that serve their slots while others are away."""
    own = {"cluster-require-full-coverage": "no", "appendonly": "yes"}
    with Cluster(stage.folder / "store", replicas_of_each=0, settings=own) as cluster:
        yield cluster
        stage.end()


def settings_of(store, cache, **more):
    return {"REDIS_URL": store.url, "CACHE_URL": cache.url, "STORE_SHARDS": str(SHARDS), **more}


def articles_on(fleet, store, node):
    """Return the articles that this node holds."""
    own = set(store.slots_of(node))
    return {article for article in range(1, fleet.articles + 1) if fleet.slot_of(article) in own}


def refused_keys(store):
    """Return how often servers refused keys of several slots."""
    return {
        node: count
        for node in store.nodes
        if (count := node.info("errorstats").get("errorstat_CROSSSLOT"))  # "count=…"
    }


@pytest.mark.short
def test_killed_primaries_lose_no_confirmed_vote(stage, store, cache):
    fleet = Fleet(stage, settings_of(store, cache, STORE_CONFIRM_REPLICAS="1", STORE_READ_REPLICAS="1"), ARTICLES)
    recoveries = []
    with fleet.crowd(*fleet.plans(direct_voters=8, direct_undecided=3)) as crowd:
        for number in range(KILLS):
            crowd.wait_for(VOTES * (number + 1) // KILLS - len(crowd.ledger.votes), "direct")
            crowd.wait_for(10)
            primary = store.primaries()[number % 3]
            slot, concerned = store.slots_of(primary)[0], articles_on(fleet, store, primary)
            killed_at = time.monotonic()
            primary.kill()
            store.until_failed_over(slot, primary)
            primary.restart()  # nothing else can confirm what its replica takes now
            recoveries.append(crowd.recovery(killed_at, articles=concerned))
            store.until_whole()
        crowd.wait_for(VOTES - len(crowd.ledger.votes), "direct")
    assert len(crowd.ledger.votes) >= VOTES
    assert refused_keys(store) == {}
    row = Row(14, f"Cluster: a primary of three killed, {KILLS} times; confirmed", recovery=max(recoveries))
    fleet.end(row, crowd.ledger)


def test_no_reader_notices_that_slots_and_nodes_move(stage, store, cache):
    fleet = Fleet(stage, settings_of(store, cache, STORE_CONFIRM_REPLICAS="1"))
    first, second, _ = store.primaries()
    used = {fleet.slot_of(article) for article in range(1, fleet.articles + 1)}
    moving = [slot for slot in store.slots_of(first) if slot in used][: scaled(8, 2)]
    with fleet.crowd(*fleet.plans(direct_voters=4, direct_undecided=2)) as crowd:
        began = time.monotonic()
        store.move_slots(first, second, moving)
        third = store.add_primary()
        store.move_slots(second, third, moving)
        store.move_slots(third, first, moving)
        store.remove_node(third)
        ended = time.monotonic()
        recovery = crowd.recovery(ended)
        crowd.wait_for(50)
    reads = crowd.ledger.of("read", since=began, until=ended)
    repeated = most_repeated(crowd.ledger, began, ended)
    kept = sum(event.note == KEPT for event in reads)
    assert {event.status for event in reads} == {"200"}
    assert refused_keys(store) == {}
    assert "CROSSSLOT" not in fleet.site.told()
    moves = f"{3 * len(moving)} slots moved in {ended - began:.0f} s, a node added and removed"
    row = Row(14, f"{moves}; repeated {repeated} times at most, {kept} kept pages", recovery=recovery)
    fleet.end(row, crowd.ledger)
    assert repeated <= 1


def test_without_one_of_three_nodes_the_others_articles_are_voted_on(stage, bare_store, cache):
    store = bare_store
    fleet = Fleet(stage, settings_of(store, cache))
    gone = store.primaries()[0]
    away = articles_on(fleet, store, gone)
    here = set(range(1, fleet.articles + 1)) - away
    with fleet.crowd(*fleet.plans(direct_voters=4, attempts=1)) as crowd:
        gone.kill()
        began = time.monotonic()
        assert crowd.recovery(began + 2 * PATIENCE, articles=here)
        crowd.wait_past(began + GONE_SECONDS)
        ended = time.monotonic()
        gone.restart()
        store.until_whole()
        recovery = crowd.recovery(ended, articles=away)
    votes = crowd.ledger.of("vote", "direct", since=began + 2 * PATIENCE, until=ended)
    assert {event.status for event in votes if event.article in away}.isdisjoint(CONFIRMED)
    refused = [event for event in votes if event.article in here and event.status not in CONFIRMED]
    assert refused == [], f"{ended - began:.2f} s after {began}"
    assert {event.status for event in crowd.ledger.of("read", since=began, until=ended)} == {"200"}
    row = Row(14, f"Cluster: one of three nodes gone for {GONE_SECONDS} s, no replica", recovery=recovery)
    fleet.end(row, crowd.ledger)
