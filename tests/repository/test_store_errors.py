"""A store that cannot answer is one fact, whatever the cause."""

import os
import signal
import time

import pytest

from articles.domain import Choice, Order
from articles.errors import StoreUnavailable
from articles.repository import connect
from tests.repository.conftest import ALICE, BOB
from voting_site.embedded import StorePaths, Supervisor


@pytest.fixture
def private(tmp_path):
    """A server of its own, with an article, and its process id."""
    supervisor = Supervisor(StorePaths(tmp_path), config={"appendfsync": "no"})
    supervisor.start(30)
    repository = connect(supervisor.paths.url(0))
    repository.prepare()
    repository.articles.post(ALICE, "alice", "T", "https://example.org/")
    yield repository, supervisor
    supervisor.stop()


def everything(repository):
    return (
        lambda: repository.votes.cast(1, BOB, Choice.VOTE),
        lambda: repository.articles.post(BOB, "bob", "B", "https://example.org/b"),
        lambda: repository.listings.page(Order.SCORE),
        lambda: repository.articles.get(1),
        lambda: repository.groups.all(),
        lambda: repository.moderation_log.page(),
    )


def test_no_store_at_all(tmp_path):
    for action in everything(connect(f"unix://{tmp_path}/nobody.sock")):
        with pytest.raises(StoreUnavailable):
            action()


def test_a_store_that_stopped(private):
    repository, supervisor = private
    supervisor.stop()

    for action in everything(repository):
        with pytest.raises(StoreUnavailable):
            action()


def test_a_store_that_hangs_is_given_up_within_one_and_a_half_seconds(private):
    repository, _ = private
    pid = repository.store.client.info("server")["process_id"]
    os.kill(pid, signal.SIGSTOP)
    try:
        for action in everything(repository):
            began = time.monotonic()
            with pytest.raises(StoreUnavailable):
                action()
            assert time.monotonic() - began < 1.5
    finally:
        os.kill(pid, signal.SIGCONT)
    assert repository.articles.get(1).votes >= 1, "it recovers by itself"


def test_a_full_store_refuses_writes_whole_and_serves_reads(private):
    repository, _ = private
    repository.store.client.config_set("maxmemory", "1")
    with pytest.raises(StoreUnavailable):
        repository.votes.cast(1, BOB, Choice.VOTE)
    with pytest.raises(StoreUnavailable):
        repository.articles.post(BOB, "bob", "B", "https://example.org/b")

    assert repository.articles.get(1).votes == 1
    assert repository.listings.page(Order.SCORE).total == 1
    repository.store.client.config_set("maxmemory", "0")
    assert list(repository.audit.findings()) == []
    assert repository.votes.cast(1, BOB, Choice.VOTE).votes == 2


def test_a_read_only_replica_refuses_writes(private):
    repository, _ = private
    repository.store.client.replicaof("127.0.0.1", "1")

    with pytest.raises(StoreUnavailable):
        repository.votes.cast(1, BOB, Choice.VOTE)


def test_a_store_that_forgot_the_scripts_is_taught_again(real_repository):
    number = real_repository.articles.post(ALICE, "alice", "T", "https://example.org/", ["python"]).id
    for _ in range(3):
        real_repository.store.client.script_flush()
        real_repository.votes.cast(number, BOB, Choice.VOTE)
        real_repository.store.client.script_flush()
        assert real_repository.listings.page(Order.SCORE, slug="python").total == 1

    assert real_repository.articles.get(number).votes == 2
