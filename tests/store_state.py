"""Direct reads and changes of a store by tests, bypassing the methods of the repository.

Tests of pages, the API and commands use no keys; they call the functions here instead.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
import redis
from redis.connection import AbstractConnection

from articles.domain.comments import root_of
from articles.domain.lists import Order
from articles.repository import Repository
from articles.repository.store import keys as names, schema
from articles.repository.store.clients.client import make_clients
from articles.repository.store.keys import recognise
from articles.repository.upkeep import upgrades
from articles.text.links import link_digest
from tests import every_server
from tests.cast import ALICE
from tests.every_server import count_of, delete, names_in

REPOSITORY_DATABASE = 2  # of the test server: 0 and 1 are the site's own store and cache
RANKING_KEY, HOT_KEY, ARTICLE_KEY, VOTERS_KEY = "score:", "hot:score", "article:1", "voted:1"
GROUP_KEY, LINK_KEY = "group:python", names.link("0" * 32)
KEY_LIKE = (RANKING_KEY, VOTERS_KEY)  # names of keys, for input that must not reach any
NOWHERE = "unix:///nowhere/store.sock"  # URL of a store that does not answer
DEEP = "[" * 100_000 + "]" * 100_000  # JSON that is nested too deeply to be read
DEEP_LOGS = [0, 0, [["log:", [DEEP], None], ["tunings:", [DEEP], None]]]
"""A record of a backup, with entries of the logs that cannot be read."""

FORGED_RECORDS = [
    DEEP, "null",
    '["' + "a" * (1 << 18),
    [0, 0, 7], [0, 0, [["article:9", {"title": 7}, None]]], [0, 0, [["article:9", ["title"], None]]],
    [0, 0, [["voted:9", {"1": 1}, None]]], [0, 0, [["article:9", {"title": "Late"}, 1 << 70]]],
    [0, 0, [["votes:1", {"9": float("nan")}, None]]], [0, 0, [["hll:uv:9", "no base64", None]]],
    [0, 0, [["hll:day:9", "bm8gc2tldGNo", None]]],
    [9, 0, [["article:9", {"title": "Elsewhere"}, None]]],
    [-1, 0, [["log:", ["{}"], None]]],
    ["0", 0, []],
]  # fmt: skip
"""Lines of a backup's store that no site writes."""


def kind_of(key: str) -> str:
    """Return the name of a kind of key, with placeholders, from the name of one key."""
    (kind,) = recognise([key])
    assert kind
    return kind.name


# The store as a whole


def new_client(url: str, **how: Any) -> redis.Redis:
    """Return a client of a store, with connections of its own."""
    return make_clients(url, **how).main


@cache
def client_of(url: str) -> redis.Redis:
    """Return this process's client of a store; a connection takes longer than the commands of most tests."""
    return new_client(url)


def abandon_lease(repository: Repository, seconds: int) -> None:
    """Let housekeeping's lease be that of a process that died: it expires after these seconds."""
    repository.store.client.set(names.TICK_LOCK, "of a process that died", ex=seconds)


def age_measurements(repository: Repository, seconds: int) -> None:
    """Let all readings of the web server's counts have been made earlier."""
    client = repository.store.client
    readings = {str(int(at) - seconds): text for at, text in client.hgetall(names.MEASUREMENTS).items()}
    client.delete(names.MEASUREMENTS)
    client.hset(names.MEASUREMENTS, mapping=readings)


def count_keys(repository: Repository) -> int:
    return repository.store.client.dbsize()


def key_names(repository: Repository) -> set[str]:
    return set(names_in(repository.store.client))


def empty(repository: Repository, *, keep_settings: bool = False) -> None:
    """Delete every key, except the schema and the ranking parameters if they are to be kept."""
    client, kept = repository.store.client, (names.SCHEMA, repository.store.shards.all[0].ranking)
    settings = {name: client.hgetall(name) for name in kept} if keep_settings else {}
    client.flushdb()
    for name, fields in settings.items():
        client.hset(name, mapping=fields)


def problems(repository: Repository) -> list[str]:
    """Return what the audit finds, one line each."""
    return [str(finding) for finding in repository.audit.run()]


def damage_votes(repository: Repository, article_id: int) -> None:
    """Let an article's number of votes be no number."""
    repository.store.client.hset(repository.store.shards.of(article_id).article(article_id), "votes", "many")


WRITTEN = ("article:", "voted:", "oppose:", "votes:", "opposes:", "saved:", "posted:", "link:", "log:", "tunings:")
WRITTEN += ("group:", "groups:", "merged:", "removed:", "descriptions:")
"""Beginnings of keys that only members' actions change."""


def written(repository: Repository) -> dict[str, object]:
    """Return what members have written to the store, by key."""
    return {key: value for key, value in contents(repository).items() if key.startswith(WRITTEN)}


def contents(repository: Repository) -> dict[str, object]:
    """Return everything in the store, by key; only the count of sketches.

    Without what is different each time: the site's own id, the id of the copy, and when what has changed.
    """
    client = repository.store.client
    found = [name for name in names_in(client) if not name.endswith("changes:")]
    pipe = client.pipeline(transaction=False)
    for name in found:
        pipe.type(name)
    types = pipe.execute()
    for name, type_ in zip(found, types, strict=True):
        _READ["sketch" if "hll:" in name else type_](pipe, name)
    values = dict(zip(found, pipe.execute(), strict=True))
    for name in ("site", "data"):
        values.get(names.SCHEMA, {}).pop(name, None)
    return values


_READ: dict[str, Callable[[redis.client.Pipeline, str], object]] = {
    "hash": lambda pipe, name: pipe.hgetall(name),
    "set": lambda pipe, name: pipe.smembers(name),
    "zset": lambda pipe, name: pipe.zrange(name, 0, -1, withscores=True),
    "list": lambda pipe, name: pipe.lrange(name, 0, -1),
    "string": lambda pipe, name: pipe.get(name),
    "sketch": lambda pipe, name: pipe.pfcount(name),
}


def damage_votes_of(repository: Repository, article_id: int, user: int) -> str:
    """Replace a member's list of votes by a key of another type; return its name."""
    name = repository.store.shards.of(article_id).votes_of(user)
    repository.store.client.unlink(name)
    repository.store.client.set(name, "x")
    return name


def damage_article(repository: Repository, article_id: int) -> str:
    """Replace an article and all that is kept with it by one key of another type; return its name."""
    keys = repository.store.shards.of(article_id)
    repository.store.client.unlink(keys.article(article_id), keys.voted(article_id))
    repository.store.client.set(keys.article(article_id), "x")
    return keys.article(article_id)


def write_acts(repository: Repository, *acts: tuple[int, str, str], actor: str = "carol", **details: str) -> None:
    """Log acts, each on an article or 0, with these words and titles, and notify alice of those on articles."""
    store, at = repository.store, repository.store.now()
    for article_id, word, title in acts:
        keys = store.shards.of(article_id) if article_id else store.shards.directory
        entry = {"action": word, "at": at, "actor": actor, "id": str(article_id), "title": title}
        number = store.client.lpush(keys.log, json.dumps(entry | {"reason": "Because", "details": details}))
        if article_id:
            store.client.hset(keys.article(article_id), "log", number)
            write_notice(repository, article_id, word)


def write_notice(repository: Repository, article_id: int, word: str) -> None:
    """Notify alice with this word about an article."""
    notice = {f"{word}:{root_of(article_id)}": repository.store.now()}
    repository.store.client.zadd(repository.store.shards.of(article_id).inbox(ALICE), notice)


def add_foreign_key(repository: Repository, name: str = "alien") -> None:
    repository.store.client.set(name, "1")


@contextmanager
def refusing_writes(repository: Repository) -> Iterator[None]:
    """Let the server refuse every write, as one without its replicas does."""
    with configured(repository, "min-replicas-to-write", "9"):
        yield


@contextmanager
def configured(repository: Repository, name: str, value: str) -> Iterator[None]:
    """Run the server with another value of one of its settings."""
    with every_server.configured(repository.store.client, name, value):
        yield


@contextmanager
def logging_every_command(repository: Repository) -> Iterator[None]:
    """Make the slow log hold exactly these commands, however fast they are, until the next test."""
    for server in every_server.servers_of(repository.store.client):
        server.slowlog_reset()
    with configured(repository, "slowlog-log-slower-than", "0"):
        yield


def read_keys(repository: Repository, *keys: str | bytes) -> None:
    for key in keys:
        repository.store.client.get(key)


def server_name(repository: Repository) -> str:
    """Return the name and the version of the server."""
    info = repository.store.client.info("server")
    return f"Valkey {info['valkey_version']}" if "valkey_version" in info else f"Redis {info['redis_version']}"


def server_info(repository: Repository) -> dict[str, Any]:
    return repository.store.client.info()


def reset_statistics(repository: Repository) -> None:
    every_server.reset_statistics(repository.store.client)


def with_login(url: str, name: str, password: str) -> str:
    """Return a store's URL with another user."""
    return re.sub(r"://(?:[^/]*@)?", f"://{name}:{password}@", url, count=1)


@contextmanager
def limited_rights(repository: Repository, url: str, *rights: str) -> Iterator[None]:
    """Connect the repository to the server as a user with only these rights."""
    client = repository.store.client
    client.execute_command("ACL", "SETUSER", "limited", "on", ">secret", "~*", "&*", *rights)
    repository.store.client = new_client(with_login(url, "limited", "secret"))
    try:
        yield
    finally:
        repository.store.client = client
        client.execute_command("ACL", "DELUSER", "limited")


@contextmanager
def lost_connection(repository: Repository) -> Iterator[None]:
    """Connect the repository to a server that does not answer."""
    with pytest.MonkeyPatch.context() as patched:
        for name in ("client", "_stale"):
            patched.setattr(repository.store, name, new_client(NOWHERE))
        yield


@contextmanager
def lost_answers() -> Iterator[None]:
    """Let the store execute scripts without the site receiving the answers."""

    def read_nothing(self: Any, *args: Any, **options: Any) -> Any:
        read(self, *args, **options)
        raise redis.ConnectionError("Connection closed by server.")

    read = AbstractConnection.read_response
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(AbstractConnection, "read_response", read_nothing)
        yield


@contextmanager
def read_only_replica(repository: Repository) -> Iterator[None]:
    """Make the server a replica of one that does not exist, while inside the block."""
    repository.store.client.replicaof("127.0.0.1", "1")
    try:
        yield
    finally:
        repository.store.client.replicaof("NO", "ONE")


def lose_everything(repository: Repository) -> None:
    """Empty the store under the running site."""
    repository.store.client.flushdb()


def lose_parameters(repository: Repository) -> None:
    """Delete the ranking's parameters of every shard."""
    delete(repository.store.client, *(keys.ranking for keys in repository.store.shards.all))


def read_timeout(repository: Repository) -> float:
    """Return how many seconds the repository waits for a reply from the server."""
    return repository.store.client.connection_pool.connection_kwargs["socket_timeout"]


@contextmanager
def counted_pipelines(repository: Repository) -> Iterator[list[object]]:
    """Yield a list that grows by one with each round trip of several commands."""
    trips: list[object] = []
    client = repository.store.client
    pipeline, together = client.pipeline, client.send_together
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(client, "pipeline", lambda **how: trips.append(how) or pipeline(**how))
        if not repository.store.is_cluster:  # there, it is a pipeline
            patched.setattr(client, "send_together", lambda *how: trips.append(how) or together(*how))
        yield trips


def set_clock(repository: Repository, clock: float | Callable[[], float]) -> None:
    """Let the repository read the time from this clock, or always read this time."""
    repository.store._clock = clock if callable(clock) else lambda: clock


# Articles


def skip_number(repository: Repository) -> int:
    """Give out the number of an article that is never posted, and return it."""
    with repository.store.commands() as client:
        return int(client.incr(names.COUNTER))


def _article(repository: Repository, article_id: int) -> str:
    return repository.store.shards.of(article_id).article(article_id)


def change_article(repository: Repository, article_id: int, fields: Mapping[str, object]) -> None:
    """Overwrite stored fields of the article, and nothing derived from them."""
    repository.store.client.hset(_article(repository, article_id), mapping={k: str(v) for k, v in fields.items()})


def record_again(repository: Repository, article_id: int) -> None:
    """Let an article be looked at for a ballot record again."""
    change_article(repository, article_id, {"ballots": 0})
    repository.store.client.hdel(repository.store.shards.of(article_id).ranking, "ballots_recorded")


def add_upgrade(monkeypatch: pytest.MonkeyPatch, summary: str, run: Any) -> int:
    """Give the site a made-up upgrade, to the layout after its own; return that one."""
    newer = schema.LAYOUT_VERSION + 1
    monkeypatch.setattr(upgrades, "UPGRADES", (upgrades.Upgrade(newer, summary, run),))
    return newer


def lose_html(repository: Repository) -> None:
    """Delete the HTML of all texts, which an earlier version of the site did not keep."""
    client = repository.store.client
    for name in names_in(client):
        if kind_of(name) in ("article:<id>", "comment:<comment>"):
            client.hdel(name, "html")


def lose_article(repository: Repository, article_id: int) -> None:
    """Delete the article, but not the references to it."""
    repository.store.client.delete(_article(repository, article_id))


def expire_link(repository: Repository, link: str) -> None:
    """Let the time be over in which posting the link leads to its article."""
    repository.store.client.delete(names.link(link_digest(link)))


def let_close(repository: Repository, article_id: int) -> None:
    """Move the article to 2017, when voting on it ended too."""
    change_article(repository, article_id, {"time": "1500000000.000", "closes": "1500604800.000"})


def set_posted_at(repository: Repository, article_id: int, posted_at: float) -> None:
    """Change when the article was posted, but not its place in any list."""
    change_article(repository, article_id, {"time": f"{posted_at:.3f}"})


def make_older(repository: Repository, article_id: int, seconds: float) -> None:
    set_posted_at(repository, article_id, repository.articles.get(article_id).posted_at - seconds)


def set_views(repository: Repository, article_id: int, views: int) -> None:
    repository.store.client.set(repository.store.shards.of(article_id).views(article_id), views)


def exchange_opposer(repository: Repository, article_id: int, one: int, other: int) -> None:
    """Let the set of those who oppose an article have another member than its counts came from."""
    keys = repository.store.shards.of(article_id)
    repository.store.client.srem(keys.oppose(article_id), one)
    repository.store.client.sadd(keys.oppose(article_id), other)


def voters(repository: Repository, article_id: int) -> tuple[set[str], set[str]]:
    """Return the ids of the members that voted for the article, and of those that opposed it."""
    client, keys = repository.store.client, repository.store.shards.of(article_id)
    return client.smembers(keys.voted(article_id)), client.smembers(keys.oppose(article_id))


def put_back_name(repository: Repository, article_id: int, user_id: int, name: str) -> None:
    """Undo the effect of the poster's account deletion on the article."""
    change_article(repository, article_id, {"poster": user_id, "poster_name": name})
    keys = repository.store.shards.of(article_id)
    repository.store.client.zadd(keys.posted(user_id), {str(article_id): 1})


def has_posted_list(repository: Repository, user_id: int) -> bool:
    """Return whether any shard lists articles that this member posted."""
    keys = [shard.posted(user_id) for shard in repository.store.shards.all]
    return bool(count_of(repository.store.client, *keys))


# Rankings


def ranking_values(repository: Repository, order: Order) -> dict[int, float]:
    """Return the ids of all listed articles with the value that ranks them."""
    client = repository.store.client
    pairs = (pair for keys in repository.store.shards.all for pair in client.zscan_iter(keys.order(order)))
    return {int(member): value for member, value in pairs}


def lose_from_ranking(repository: Repository, article_id: int, order: Order) -> None:
    """Take the article out of one of the lists of all articles."""
    keys = repository.store.shards.of(article_id)
    repository.store.client.zrem(keys.order(order), str(article_id))


def lose_ranking(repository: Repository, order: Order) -> None:
    """Delete one of the lists of all articles."""
    delete(repository.store.client, *(keys.order(order) for keys in repository.store.shards.all))


def lose_group_members(repository: Repository, slug: str) -> None:
    """Delete the set of a group's articles."""
    delete(repository.store.client, *(keys.group(slug) for keys in repository.store.shards.all))


def set_store_clock(repository: Repository, at: float) -> None:
    """Set the store's own clock."""
    for keys in repository.store.shards.all:
        repository.store.client.hset(keys.ranking, "clock", f"{at:.3f}")


def set_hot_rescored_at(repository: Repository, at: float) -> None:
    repository.store.client.hset(repository.store.shards.directory.ranking, "refreshed_at", at)


# Visitors


def set_salt(repository: Repository, day: int, text: str) -> None:
    repository.store.client.set(names.salt(day), text)


def lose_salt(repository: Repository, day: int) -> None:
    repository.store.client.delete(names.salt(day))


def get_salt(repository: Repository, day: int) -> tuple[str, int]:
    """Return the day's salt as it is stored, and the seconds until it expires."""
    client = repository.store.client
    return client.get(names.salt(day)), client.ttl(names.salt(day))


def traces_of_visitors(repository: Repository) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """Return the digests of visitors and of networks in keys, each with the seconds until its key expires."""
    client = repository.store.client

    def traces(kind: str) -> list[tuple[str, int]]:
        return [
            (name.rpartition(":")[2], client.ttl(name)) for name in key_names(repository) if f"{kind}:" in name
        ]

    return traces("seen"), traces("burst")


# Housekeeping and imports


def set_notes(repository: Repository, notes: Mapping[str, object]) -> None:
    """Write the notes of the last run of each housekeeping step; text is written unchanged."""
    fields = {step: note if isinstance(note, str) else json.dumps(note) for step, note in notes.items()}
    repository.store.client.hset(names.TICK, mapping=fields)


def get_notes(repository: Repository) -> dict[str, dict[str, object]]:
    """Return the notes of the last run of each housekeeping step."""
    return {step: json.loads(note) for step, note in repository.store.client.hgetall(names.TICK).items()}


def hold_import_lock(repository: Repository, holder: str = "another") -> None:
    """Simulate another import that never ends, or another process that holds its lock."""
    repository.store.client.set(names.IMPORT_LOCK, holder)


def import_lock_holder(repository: Repository) -> str | None:
    return repository.store.client.get(names.IMPORT_LOCK)


def release_import_lock(repository: Repository) -> None:
    repository.store.client.delete(names.IMPORT_LOCK)


def is_rewriting_file(repository: Repository) -> bool:
    """Return whether the server is rewriting its append-only file."""
    return bool(repository.store.client.info("persistence")["aof_rewrite_in_progress"])


def write_stamp(repository: Repository, field: str, value: str) -> None:
    """Overwrite a field of what the store says about itself."""
    repository.store.client.hset(names.SCHEMA, field, value)


def forget_accounts(repository: Repository) -> None:
    """Make the store one of a version that did not record whether accounts remember it."""
    repository.store.client.hdel(names.SCHEMA, "remembered")


def lose_changes(repository: Repository) -> None:
    """Let the store forget which articles have changed, as if a search index had missed it."""
    for shard in repository.store.shards.all:
        repository.store.client.delete(shard.changes)
