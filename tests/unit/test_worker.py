"""When a worker whose parent has ended leaves, and how many connections it takes."""

import asyncio
import os

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
