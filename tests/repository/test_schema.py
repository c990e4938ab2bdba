"""The schema stamp: which stores the site starts on, and which it refuses and leaves unchanged."""

import logging
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import UUID

import pytest
import redis

from articles.domain.errors import StoreUnfit
from articles.repository.store import scan, schema
from articles.repository.store.connection import Store
from articles.repository.store.keys import Keys
from articles.repository.store.scan import walk_kinds
from articles.repository.upkeep import upgrades
from tests.every_server import configure, names_in, with_methods_of
from tests.repository.usage import use
from tests.rules import connect, default_rules
from tests.store_state import add_upgrade, contents

pytestmark = pytest.mark.one_shard


def test_the_first_start_stamps_an_empty_store(server_url, clock):
    repository = connect(server_url, shards=4, clock=clock)

    repository.prepare()
    site = str(UUID(repository.store.client.hget("schema:", "site")))
    repository.prepare()

    stamp = {"version": str(schema.LAYOUT_VERSION), "shards": "4", "configured": "200"}
    stamp |= {"site": site}
    assert repository.store.client.hgetall("schema:") == stamp
    assert repository.site_id == site
    values = {name: float(text) for name, text in repository.store.client.hgetall("{s3}:ranking:").items()}
    parameters = {"votes_per_day": 200, "alpha": 1, "beta": 1.2, "base": 2, "gamma": 1.5, "seconds_per_point": 432}
    parameters |= {"voting_window": 604800, "longest_window": 604800}
    parameters |= {"version": 1, "refreshed_at": repository.hot.get_refreshed_at()}
    assert values == parameters | {"clock": clock()}


def test_a_new_store_needs_no_upgrade(server_url):
    ran: list[str] = []
    repository = connect(server_url, shards=4, observe=lambda operation, *_: ran.append(operation))

    repository.prepare()

    assert [name for name in ran if name.startswith("schema/")] == ["schema/stamp"]


def test_a_foreign_database_is_refused_and_left_unchanged(server_url):
    repository = connect(server_url)
    repository.store.client.set("theirs", "1")

    with pytest.raises(StoreUnfit, match="1 keys that are not this site's"):
        repository.prepare()
    assert names_in(repository.store.client) == ["theirs"]


@pytest.mark.parametrize("field", schema.OF_A_MOVE)
def test_a_store_that_an_earlier_version_is_moving_is_refused(repository, field):
    repository.store.client.hset("schema:", field, '["redis://elsewhere/0", 4]')

    with pytest.raises(StoreUnfit, match=r"move_store --confirm"):
        repository.prepare()


def test_two_concurrent_first_starts_prepare_one_store_at_any_interleaving(server_url):
    """Run the whole second start before each command of the first in turn."""

    class Overtaken(redis.Redis):
        left = 0

        def execute_command(self, *args, **options):
            self.overtake()
            return super().execute_command(*args, **options)

        def pipeline(self, *args, **options):
            self.overtake()
            return super().pipeline(*args, **options)

        def overtake(self):
            self.left -= 1
            if self.left == 0:
                connect(server_url, shards=4).prepare()

    whole = connect(server_url).store.client
    commands, overtaken = 0, True
    while overtaken:
        commands += 1
        client = with_methods_of(Overtaken, whole)
        client.flushdb()
        client.left = commands
        first = connect(client, shards=4)

        first.prepare()

        overtaken = client.left <= 0
        assert first.articles.post(1, "alice", "T", "https://example.org/").is_new
        assert list(first.audit.run()) == []
    assert commands > 6


def test_a_store_that_evicts_is_refused(server_url):
    repository = connect(server_url)
    configure(repository.store.client, "maxmemory-policy", "allkeys-lru")
    try:
        with pytest.raises(StoreUnfit, match="allkeys-lru"):
            repository.prepare()
    finally:
        configure(repository.store.client, "maxmemory-policy", "noeviction")


@pytest.mark.parametrize(
    ("info", "fits"),
    [
        ({"redis_version": "6.2.0"}, True),
        ({"redis_version": "6.0.16"}, False),
        ({"redis_version": "5.0.7"}, False),
        ({"redis_version": "8.2.1"}, True),
        ({"redis_version": "7.2.4", "valkey_version": "9.1.2"}, True),
    ],
)
def test_supported_versions_of_servers(info, fits):
    if fits:
        schema._check(info)
    else:
        with pytest.raises(StoreUnfit):
            schema._check(info)


@pytest.mark.parametrize(
    ("shards", "version", "said"),
    [
        (4, "7", "shards, STORE_SHARDS is 4"),
        (1, "99", "layout 99.*: run the version of the site that wrote it, or a newer one"),
        (1, "6", "layout 6.*: start version 0.5.0 of the site on it first"),
    ],
)
def test_another_layout_or_number_of_shards_is_refused_and_the_store_left_alone(server_url, shards, version, said):
    first = connect(server_url)
    first.prepare()
    first.store.client.hset("schema:", "version", version)
    before = contents(first)

    with pytest.raises(StoreUnfit, match=said):
        connect(server_url, shards=shards).prepare()

    assert contents(first) == before


def test_the_next_start_completes_one_interrupted_after_the_stamp(server_url):
    repository = connect(server_url, shards=4)
    repository.store.client.hset("schema:", mapping={"version": "7", "shards": "4"})

    repository.prepare()

    assert repository.articles.post(1, "alice", "T", "https://example.org/").is_new
    assert list(repository.audit.run()) == []


@pytest.fixture
def next_layout(monkeypatch):
    """Let this be the version after, whose made-up upgrade is interrupted until the function is called."""

    def improve(store: Store, progress: upgrades.Progress) -> None:
        for done, batch in enumerate(walk_kinds(store)):
            for name in (name for name, kind in batch if kind is Keys.article):
                store.client.hsetnx(name, "better", store.client.hget(name, "title"))
            progress(done, done + 1)
            if done == stopping_after:
                raise KeyboardInterrupt

    stopping_after = 1
    monkeypatch.setattr(scan, "KEYS_PER_SCAN", 20)
    monkeypatch.setattr(schema, "LAYOUT_VERSION", add_upgrade(monkeypatch, "titles get better", improve))

    def complete() -> None:
        nonlocal stopping_after
        stopping_after = -1

    return complete


def test_a_start_upgrades_an_older_store_after_an_interruption_and_once(repository, clock, next_layout, caplog):
    use(repository, clock)
    client, before = repository.store.client, repository.store.client.hgetall("schema:")
    with pytest.raises(KeyboardInterrupt):
        repository.prepare()
    assert client.hgetall("schema:") == before
    assert len(upgrades.list_pending(repository.store)) == 1

    next_layout()
    for _ in range(2):
        with caplog.at_level(logging.INFO):
            repository.prepare()

    titles = [client.hmget(name, "title", "better") for name in names_in(client, "*article:[0-9]*")]
    assert all(title == better for title, better in titles)
    assert client.hgetall("schema:") == before | {"version": str(schema.LAYOUT_VERSION)}
    assert upgrades.list_pending(repository.store) == []
    assert caplog.text.count("the store is upgraded: titles get better") == 2, "each time that it began"
    assert caplog.text.count("the upgrade is complete") == 1
    assert list(repository.audit.run()) == []


@pytest.mark.parametrize(
    "change",
    [lambda site: site.repair.run(), lambda site: site.repair.rebuild(), lambda site: site.clear()],
    ids=["repair", "rebuild", "clear"],
)
def test_search_indexes_are_built_again_after_changes_that_are_not_noted(repository, change):
    copy = repository.changes.get_copy()

    change(repository)

    assert repository.changes.get_copy() != copy


def test_concurrent_starts_adopt_a_new_weight_once(repository):
    for n in range(30):
        repository.articles.post(1, "alice", "T", f"https://example.org/{n}")
    store = repository.store
    starting = Barrier(6)

    def start(_: int) -> bool:
        rules = default_rules(votes_per_day=10)
        changed = connect(store.client, shards=store.shards.count, rules=rules, clock=store.now)
        starting.wait()
        return changed.adopt_rules()

    with ThreadPoolExecutor(6) as pool:
        adopted = list(pool.map(start, range(6)))

    assert any(adopted)
    assert [entry.version for entry in repository.parameters.list_changes()] == [2, 1]
    assert list(repository.audit.run()) == []


@pytest.mark.needs("databases")
def test_a_server_that_refuses_the_site_is_reported_as_unfit(store_paths):
    with pytest.raises(StoreUnfit, match="the site supports: DB index is out of range"):
        connect(store_paths.url(99)).prepare()
