"""When a worker whose parent has ended leaves, and how many connections it takes."""

import asyncio
import os
import subprocess
import sys

import pytest

from voting_site.serving.workers import worker as workers


@pytest.fixture
def orphan(monkeypatch):
    """A worker whose parent has ended, and the list of its leavings."""
    worker = workers.Worker(None, None, patience=1, alive=-1, parent=-1, launcher=1)
    left = []
    monkeypatch.setattr(worker, "leave", lambda: left.append(True))
    monkeypatch.setattr(workers, "_LOOK_SECONDS", 0)
    return worker, left


def test_an_orphan_serves_until_the_launcher_has_ended(orphan, monkeypatch):
    worker, left = orphan
    looks = iter([True, True, False])

    def kill(_pid, _signal):
        if left or not next(looks):
            raise ProcessLookupError

    monkeypatch.setattr(os, "kill", kill)

    asyncio.run(worker._watch_parent())

    assert left == [True]
    assert list(looks) == []


def test_an_orphan_leaves_when_its_successor_has_had_time_to_start(orphan, monkeypatch):
    worker, left = orphan
    monkeypatch.setattr(workers, "SUCCESSION", 0)
    monkeypatch.setattr(os, "kill", lambda *_: None)

    asyncio.run(worker._watch_parent())

    assert left == [True]


@pytest.mark.parametrize(("files", "connections"), [(64, 16), (256, 64), (1024, 768), (100_000, 8192)])
def test_connections_leave_descriptors_for_everything_else(monkeypatch, files, connections):
    monkeypatch.setattr(workers.resource, "getrlimit", lambda _: (files, files))

    assert workers._connections() == connections


@pytest.mark.parametrize(
    ("loading", "unneeded"),
    [
        ("import voting_site.serving.launcher", ["django.db.models", "prometheus_client", "redis"]),
        (
            "import django; django.setup(); from django.urls import resolve; resolve('/healthz');"
            "import voting_site.serving.workers.site",
            ["webauthn", "justhtml", "authlib.oidc"],
        ),
    ],
)
def test_a_start_loads_no_library_that_only_some_sites_need(loading, unneeded):
    code = f"import sys; {loading}; print([one for one in {unneeded} if one in sys.modules])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ended.stdout.strip() == "[]"
