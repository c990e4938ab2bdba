"""The stamp: which stores the site starts on, and which it refuses and leaves alone."""

import pytest

from articles.domain import Rules
from articles.errors import StoreUnfit
from articles.repository import connect, schema
from tests.repository.usage import contents


def test_the_first_start_stamps_an_empty_store(server_url):
    repository = connect(server_url, shards=4)

    repository.prepare()
    repository.prepare()

    assert repository.store.client.hgetall("schema:") == {"version": "1", "shards": "4"}
    assert repository.store.client.hgetall("{s3}:ranking:") == {"seconds_per_point": "432"}


def test_another_number_of_shards_is_refused(server_url):
    connect(server_url).prepare()

    with pytest.raises(StoreUnfit, match="1 shards, STORE_SHARDS is 4"):
        connect(server_url, shards=4).prepare()


def test_another_layout_is_refused(server_url):
    repository = connect(server_url)
    repository.prepare()
    repository.store.client.hset("schema:", "version", "99")

    with pytest.raises(StoreUnfit, match="layout 99"):
        repository.prepare()


def test_somebody_elses_database_is_refused_and_left_alone(server_url):
    repository = connect(server_url)
    repository.store.client.set("theirs", "1")

    with pytest.raises(StoreUnfit, match="1 keys that are not this site's"):
        repository.prepare()
    assert list(repository.store.client.scan_iter()) == ["theirs"]


def test_a_store_that_evicts_is_refused(server_url):
    repository = connect(server_url)
    repository.store.client.config_set("maxmemory-policy", "allkeys-lru")
    try:
        with pytest.raises(StoreUnfit, match="allkeys-lru"):
            repository.prepare()
    finally:
        repository.store.client.config_set("maxmemory-policy", "noeviction")


@pytest.mark.parametrize(
    ("info", "fits"),
    [
        ({"redis_version": "6.2.0"}, True),
        ({"redis_version": "6.0.16"}, False),
        ({"redis_version": "5.0.7"}, False),
        ({"redis_version": "8.2.1"}, True),
        ({"redis_version": "7.2.4", "valkey_version": "9.1.2"}, True),
        ({"redis_version": "7.2.4", "cluster_enabled": 1}, False),
    ],
)
def test_versions_and_kinds_of_server(info, fits):
    if fits:
        schema._check(info)
    else:
        with pytest.raises(StoreUnfit):
            schema._check(info)


def test_another_weight_is_adopted_once_and_repair_scores_anew(real_repository):
    number = real_repository.articles.post(1, "alice", "T", "https://example.org/").id
    store = real_repository.store
    changed = connect(store.client, shards=store.shards.count, rules=Rules(votes_per_day=10), clock=store.now)

    assert changed.adopt_rules()
    assert list(changed.audit.findings()) != []
    changed.repair.run()
    assert not changed.adopt_rules()

    assert list(changed.audit.findings()) == []
    assert changed.articles.get(number).score == store.now() + 8640


def test_scoring_anew_that_was_broken_off_is_asked_for_again(real_repository):
    for n in range(3):
        real_repository.articles.post(1, "alice", "T", f"https://example.org/{n}")
    store = real_repository.store
    changed = connect(store.client, shards=store.shards.count, rules=Rules(votes_per_day=10), clock=store.now)
    changed.adopt_rules()

    def interrupt(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        changed.repair.run(interrupt)

    assert changed.adopt_rules()
    changed.repair.run()
    assert list(changed.audit.findings()) == []
    assert not changed.adopt_rules()


@pytest.mark.parametrize(("shards", "version"), [(4, "1"), (1, "99")])
def test_a_store_that_is_refused_is_left_as_it_was(server_url, shards, version):
    first = connect(server_url)
    first.prepare()
    first.store.client.hset("schema:", "version", version)
    before = contents(first)

    with pytest.raises(StoreUnfit):
        connect(server_url, shards=shards).prepare()

    assert contents(first) == before


def test_a_start_broken_off_after_the_stamp_is_finished_by_the_next(server_url):
    repository = connect(server_url, shards=4)
    repository.store.client.hset("schema:", mapping={"version": "1", "shards": "4"})

    repository.prepare()

    assert repository.articles.post(1, "alice", "T", "https://example.org/").is_new
    assert list(repository.audit.findings()) == []


def test_a_start_with_other_rules_keeps_the_weight_in_force(server_url):
    connect(server_url).prepare()

    connect(server_url, rules=Rules(votes_per_day=10)).prepare()

    assert schema.seconds_per_point(connect(server_url).store) == 432


def test_rules_already_in_force_are_adopted_without_a_change(real_repository):
    assert not real_repository.adopt_rules()
