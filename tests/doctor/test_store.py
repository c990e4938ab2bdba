"""The store's server and data, each broken on a real server."""

import pytest

from articles import known_store
from articles.doctor import store
from articles.doctor.examination import Examination
from articles.domain.errors import StoreUnfit
from articles.models import KnownStore
from articles.web import wiring
from tests.doctor.examining import brief, levels, look
from tests.store_state import (
    NOWHERE,
    add_foreign_key,
    add_upgrade,
    configured,
    limited_rights,
    lose_everything,
    lose_parameters,
    read_only_replica,
    server_info,
    write_stamp,
)

CHECKED = ("permissions", "fit", "upgrades", "role", "memory", "evictions", "persistence", "sync", "latency")


@pytest.fixture(autouse=True)
def _durable(site_store):
    """The tests' store leaves it to the system when writes reach the disk; a site's does not."""
    with configured(site_store, "appendfsync", "always"):
        yield


def problems():
    return [text for name in CHECKED for level, text in brief("store", name) if level in ("error", "warning")]


def test_a_site_s_own_store_has_no_problem(site_store):
    assert problems() == []
    assert levels("store", "answers") == ["fine"]
    assert levels("store", "fit") == ["fine"]


def test_a_store_that_evicts_is_an_error(site_store):
    with configured(site_store, "maxmemory-policy", "allkeys-lru"):
        (finding,) = look("store", "fit")

    assert finding.level.label == "error"
    assert "allkeys-lru" in finding.text
    assert finding.advice == "Set `maxmemory-policy` to `noeviction`."


def test_a_store_without_an_append_only_file_is_an_error_and_with_snapshots_a_warning(site_store):
    with configured(site_store, "appendonly", "no"):
        with configured(site_store, "save", "3600 1"):
            assert levels("store", "persistence") == ["warning"]
        assert brief("store", "persistence") == [
            ("error", "The append-only file is off: all data is lost when the store stops.")
        ]
        assert levels("store", "sync") == []


@pytest.mark.parametrize(("policy", "level"), [("no", "warning"), ("everysec", "note"), ("always", "fine")])
def test_when_votes_reach_the_disk(site_store, policy, level):
    with configured(site_store, "appendfsync", policy):
        assert levels("store", "sync") == [level]


def test_a_full_memory_is_an_error_and_a_nearly_full_one_a_warning(site_store):
    used = server_info(site_store)["used_memory"]

    for limit, level in ((1, "error"), (int(used * 1.05), "warning"), (used * 10, "fine")):
        with configured(site_store, "maxmemory", str(limit)):
            assert levels("store", "memory") == [level], limit


def test_a_replica_is_an_error(site_store):
    with read_only_replica(site_store):
        assert levels("store", "role") == ["error"]


def test_an_emptied_store_is_an_error_once_the_site_has_used_it(site_store):
    lose_everything(site_store)
    assert brief("store", "fit") == [("error", "The store is empty, but this site has used one before.")]

    known_store.accept_any()
    assert levels("store", "fit") == ["note"]


def test_lost_parameters_of_the_ranking_are_an_error_that_a_restart_mends(site_store):
    lose_parameters(site_store)
    assert brief("store", "fit") == [("error", "The store has lost the ranking’s parameters.")]

    wiring.forget_repositories()
    wiring.repository()
    assert levels("store", "fit") == ["fine"]


def test_accounts_that_were_emptied_are_an_error(site_store):
    KnownStore.objects.all().delete()

    (finding,) = look("store", "fit")
    assert finding.level.label == "error"
    assert "the accounts database is new" in finding.detail


def test_a_database_with_keys_of_another_program_is_an_error(site_store):
    lose_everything(site_store)
    known_store.accept_any()
    add_foreign_key(site_store)

    (finding,) = look("store", "fit")
    assert finding.level.label == "error"
    assert "holds 1 keys that are not this site's" in finding.detail


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("site", "another", "is another site's"),
        ("version", "99", "has layout 99"),
        ("shards", "7", "has 7 shards"),
        ("restoring", "one", "A backup is being restored"),
    ],
)
def test_a_store_that_is_not_this_site_s_is_an_error(site_store, field, value, reason):
    write_stamp(site_store, field, value)

    (finding,) = look("store", "fit")

    assert finding.level.label == "error"
    assert reason in finding.detail


def test_a_pending_upgrade_is_a_warning(site_store, monkeypatch):
    add_upgrade(monkeypatch, "titles get better", lambda _store, _progress: None)

    (finding,) = look("store", "upgrades")

    assert finding.level.label == "warning"
    assert finding.detail == "titles get better"


def test_a_store_that_refuses_introspection_is_found(site_store, store_paths, settings):
    with limited_rights(site_store, store_paths.url(0), "+@all", "-info", "-config"):
        settings.STORE_URL = store_paths.url(0).replace("unix://", "unix://limited:secret@")

        ((level, text),) = brief("store", "permissions")
        assert (level, "`CONFIG GET`" in text) == ("note", True)
        (finding,) = look("store", "fit")
        assert finding.detail.startswith("The store does not permit INFO to the site's user")


@pytest.mark.parametrize("denied", ["zadd", "script|load", "multi"])
@pytest.mark.parametrize("is_empty", [True, False])
def test_a_user_whom_a_start_refuses_is_a_doctors_error(site_store, store_paths, settings, denied, is_empty):
    if is_empty:
        lose_everything(site_store)
        known_store.accept_any()
    with limited_rights(site_store, store_paths.url(0), "+@all", f"-{denied}"):
        settings.STORE_URL = store_paths.url(0).replace("unix://", "unix://limited:secret@")
        wiring.forget_repositories()

        (finding,) = look("store", "fit")
        assert finding.level.label == "error"
        with pytest.raises(StoreUnfit, match=r"to the site's user"):
            wiring.repository()


def test_a_slow_store_is_a_warning(site_store, settings):
    examination = Examination(site_store)
    settings.STORE_TIMEOUT_MS = 10 * 1000 * examination.latency.median * 0.99

    (finding,) = store.check_latency(examination)

    assert finding.level.label == "warning"


def test_a_store_of_the_operator_s_that_does_not_answer_is_an_error(settings):
    settings.STORE_URL, settings.STORE_IS_EMBEDDED = NOWHERE, False

    (finding,) = look("store", "answers")

    assert finding.level.label == "error"
    assert "REDIS_URL" in finding.advice
    assert finding.detail
