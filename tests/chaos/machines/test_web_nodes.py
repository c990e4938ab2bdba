"""Two web nodes on one store: one is killed, or stopped while it does the housekeeping."""

import signal
import time
from dataclasses import replace

import pytest

from articles.repository.store import keys as names
from tests.chaos.machines.fleet import Fleet
from tests.chaos.stage import PATIENCE, Row, kill, scaled
from tests.site_process import DEADLINE
from tests.store_state import get_notes
from tests.topologies.topology import OneServer
from tests.waiting import until

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(0)]

TICK = 10

ARTICLES = 2000
"""So many that voters who choose once on each are not done while one node after the other holds the lease."""

TAKEN_OVER_SECONDS = 60 * PATIENCE


@pytest.fixture
def fleet(stage):
    """Two web nodes, with one store and one accounts database."""
    with OneServer(stage.folder / "store") as server:
        environment = {
            "REDIS_URL": server.url,
            "DATABASE_URL": f"sqlite:///{stage.folder}/accounts.sqlite3",
            "SECRET_KEY": "the nodes share the key that signs sessions",
            "TICK_SECONDS": str(TICK),
        }
        yield Fleet(stage, environment, ARTICLES)
        stage.end()


def halves(plans):
    """Return the plans of two crowds, one for each web node."""
    web, undecided = plans
    half = len(web.members) // 2
    one, other = replace(web, members=web.members[:half]), replace(web, members=web.members[half:])
    return [one, undecided], [other]


def test_the_other_web_node_serves_when_one_is_killed(stage, fleet):
    one, other = fleet.site, fleet.add_web_node()
    of_one, of_other = halves(fleet.plans())
    of_other = [replace(plan, port=other.port) for plan in of_other]
    with fleet.crowd(*of_one) as crowd, fleet.crowd(*of_other, site=other) as calm:
        calm.wait_for(20)
        killed_at = time.monotonic()
        for pid in (one.process.pid, *one.processes()):  # the first starts the others
            kill(pid)
        until(lambda: not one.processes(), DEADLINE)
        recovery = calm.recovery(killed_at)
        calm.wait_past(killed_at + scaled(10, 2))
        fleet.site = stage.start(one.data_dir, **fleet.environment, PORT=str(one.port))
        crowd.recovery(time.monotonic())
    assert calm.ledger.statuses("vote", "read") == {"200"}
    row = Row(30, "one of two web nodes killed, and started again", recovery=recovery)
    fleet.end(row, crowd.ledger, calm.ledger, answers=calm.ledger)


def holder(fleet):
    """Return the token of the process that holds the housekeeping lease; None if it is free."""
    return fleet.repository.store.client.get(names.TICK_LOCK)


def stop_in_housekeeping(fleet, site):
    """Stop the process of this web node while it holds the lease."""

    def is_caught():
        if not (token := holder(fleet)):
            return False
        kill(site.process.pid, signal.SIGSTOP)
        released = time.monotonic() + 3
        while time.monotonic() < released:
            if holder(fleet) != token:  # it is the other's, or was just given back
                kill(site.process.pid, signal.SIGCONT)
                return False
        return True

    until(is_caught, 2 * DEADLINE)


def starts_of_steps(fleet):
    """Return when each housekeeping step was run last, in Unix seconds."""
    return [float(note["at"]) for note in get_notes(fleet.repository).values()]


def test_the_other_web_node_takes_over_the_housekeeping(stage, fleet):
    one, other = fleet.site, fleet.add_web_node()
    of_one, of_other = halves(fleet.plans())
    of_other = [replace(plan, port=other.port) for plan in of_other]
    with fleet.crowd(*of_one) as crowd, fleet.crowd(*of_other, site=other) as calm:
        stop_in_housekeeping(fleet, one)
        stopped = time.time()
        until(lambda: max(starts_of_steps(fleet)) > stopped, TAKEN_OVER_SECONDS, other.told)
        seconds = time.time() - stopped
        kill(one.process.pid, signal.SIGCONT)
        continued = time.time()
        until(lambda: min(starts_of_steps(fleet)) > continued, DEADLINE)
        crowd.wait_for(20)
        calm.wait_for(20)
    assert [note["error"] for note in get_notes(fleet.repository).values() if note["error"]] == []
    assert "Traceback" not in other.told()
    assert crowd.ledger.statuses("vote", "read") == {"200"}
    row = Row(31, f"holder of the housekeeping lease stopped; taken over after {seconds:.0f} s")
    fleet.end(row, crowd.ledger, calm.ledger)
