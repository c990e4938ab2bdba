"""What load balancers and supervisors are told."""

from collections import namedtuple

import pytest
from django.db import OperationalError, connection
from django.test import Client

from articles import known_store
from articles.models import KnownStore
from articles.views import operation
from articles.web import wiring
from tests.store_state import configured, lose_everything, read_only_replica

Usage = namedtuple("Usage", "free")


def ready():
    answer = Client().get("/readyz")
    return answer.status_code, answer.content.decode()


def test_a_site_that_accepts_changes_is_ready(site_store):
    assert ready() == (200, "ready\n")


@pytest.mark.needs("one server")
def test_a_read_only_store_is_an_obstacle(site_store):
    with read_only_replica(site_store):
        assert ready() == (503, "store: it is a read-only replica\n")


def test_a_full_store_is_an_obstacle(site_store):
    with configured(site_store, "maxmemory", "1"):
        assert ready() == (503, "store: its memory is full\n")


def test_an_emptied_store_is_an_obstacle(site_store):
    lose_everything(site_store)

    assert ready() == (503, "store: it was emptied\n")


def test_an_unreachable_store_is_an_obstacle(site_store, settings):
    settings.STORE_URL = "unix:///nowhere/store.sock"
    wiring.forget_repositories()

    assert ready() == (503, "store: StoreUnavailable\n")


def test_a_failing_database_is_an_obstacle(site_store):
    def fail(*_):
        raise OperationalError("database is locked")

    with connection.execute_wrapper(fail):
        assert ready() == (503, "accounts: OperationalError\n")


@pytest.mark.parametrize("site", [None, "00000000-0000-0000-0000-000000000000"])
def test_accounts_that_were_emptied_or_replaced_are_an_obstacle(site_store, site):
    KnownStore.objects.all().delete()
    if site:
        known_store.remember(site)

    assert ready() == (503, "accounts: they were emptied or replaced\n")

    known_store.accept_any()
    assert ready() == (200, "ready\n")


@pytest.mark.parametrize(
    ("free", "answer"), [(49_000_000, (503, "disk: 49 MB left\n")), (51_000_000, (200, "ready\n"))]
)
def test_a_disk_that_is_nearly_full_is_an_obstacle(site_store, monkeypatch, free, answer):
    monkeypatch.setattr(operation.shutil, "disk_usage", lambda _: Usage(free))

    assert ready() == answer
