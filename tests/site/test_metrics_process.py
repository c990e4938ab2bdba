"""Metrics of a running site whose workers start and end."""

import os
import signal
from functools import partial
from pathlib import Path

from tests.figures import value_in
from tests.site_process import DEADLINE
from tests.waiting import until


def workers(site):
    """Return the ids of gunicorn's workers: the children of the process that has children of the same kind."""
    found = {}
    for pid in site.processes():
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
            parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
        if b"gunicorn" in command:
            found[pid] = parent
    return {pid for pid, parent in found.items() if parent in found}


def is_gone(site, worker):
    return worker not in workers(site) and not files_of(site, worker)


def front_pages(site):
    labels = {"view": "articles:front", "method": "GET", "status": "200"}
    return value_in(site.get("/metrics")[1], "site_requests_total", **labels)


def has_spread(site):
    """Send one more request; return whether at least two workers have counted one."""
    site.get("/healthz")
    return sum(bool(files_of(site, pid)) for pid in workers(site)) >= 2


def folder(site):
    return site.data_dir / "metrics" / f"127.0.0.1-{site.port}"


def files_of(site, pid):
    return list(folder(site).glob(f"*_{pid}.db"))


def test_the_counts_of_all_workers_are_summed_and_outlive_each_worker(start):
    site = start(DEMO="0", WEB_WORKERS="3")
    site.wait_until_up()
    for _ in range(60):
        assert site.get("/")[0] == 200
    assert front_pages(site) == 60
    until(lambda: has_spread(site), DEADLINE, site.told)

    for number in (signal.SIGTERM, signal.SIGKILL):
        victim = next(pid for pid in sorted(workers(site)) if files_of(site, pid))
        os.kill(victim, number)
        until(partial(is_gone, site, victim), DEADLINE, site.told)
        assert front_pages(site) == 60

    until(lambda: len(workers(site)) == 3, DEADLINE, site.told)
    names = {path.stem.rpartition("_")[2] for path in folder(site).glob("*.db")}
    assert "0" in names
    assert len(names) <= 5, "the sums, the process that watches, and at most three workers"
    assert site.get("/")[0] == 200
    assert front_pages(site) == 61
    assert value_in(site.get("/metrics")[1], "site_store_up") == 1
    assert "Traceback" not in site.told()
    assert site.stop() == 0


def test_a_restart_counts_from_zero(start):
    first = start(DEMO="0")
    first.wait_until_up()
    first.get("/")
    assert front_pages(first) == 1
    first.stop()
    (folder(first) / "counter_12345.db").touch()

    second = start(DEMO="0", PORT=str(first.port))
    second.wait_until_up()

    assert front_pages(second) == 0
    assert not (folder(second) / "counter_12345.db").exists()
    assert second.stop() == 0


def test_a_metrics_token_is_required_from_local_requests_too(start):
    site = start(DEMO="0", METRICS_TOKEN="a token of some length")
    site.wait_until_up()

    assert site.get("/metrics")[0] == 404
    assert site.stop() == 0
