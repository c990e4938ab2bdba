"""What fills the store: the memory that articles take, and the census, how many keys there are of each kind.

In a large store both are estimated.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import redis

from articles.domain.articles import ArticleId
from articles.domain.errors import ArticleNotFound
from articles.domain.lists import Order
from articles.repository.store.batches import KEYS_PER_SCAN
from articles.repository.store.connection import Store
from articles.repository.store.key_table import TABLE, is_kept_with_article, recognise
from articles.repository.store.keys import Keys
from articles.repository.store.values import article_id_from

MOST_KEYS = 20_000
"""Maximum number of keys to read, so that the operator's page costs the same for a store of any size."""

_MOST_SCANS = 2 * MOST_KEYS // KEYS_PER_SCAN

OTHER = ""
"""Kind of the keys that are not the site's."""


@dataclass(frozen=True, slots=True)
class KindCount:
    """The number of keys of a kind."""

    kind: str
    keys: int


@dataclass(frozen=True, slots=True)
class Census:
    """Kinds with their numbers of keys, largest first: estimates unless `exact`. `total` is always exact."""

    total: int
    exact: bool
    kinds: tuple[KindCount, ...]


def count_keys(store: Store, most: int = MOST_KEYS) -> Census:
    """Count keys by kind from a sample of about `most` keys: a store lists its keys in random order.

    One round trip per 1,000 keys of the sample, and one more.
    """
    servers, _ = store.inspect(("DBSIZE",))
    total = sum(int(count) for (count,) in servers)
    counts, sampled, exact = _sample(store, most)
    scale = 1 if exact or not sampled else total / sampled
    kinds = (KindCount(kind, max(1, round(n * scale))) for kind, n in counts.most_common())
    return Census(total, exact, tuple(kinds))


def _sample(store: Store, most: int) -> tuple[Counter[str], int, bool]:
    """Return a sample's keys by kind, its size, and whether it is all keys.

    Every server has an equal part in it.
    """
    counts, sampled, exact, servers = Counter[str](), 0, True, store.servers()
    for server in servers:
        part, cursor = 0, 0
        for _ in range(_MOST_SCANS):
            with store.commands():
                cursor, names = server.scan(cursor, count=KEYS_PER_SCAN)
            counts.update(kinds_of(names))
            part += len(names)
            if cursor == 0 or part >= most / len(servers):
                break
        sampled, exact = sampled + part, exact and cursor == 0
    return counts, sampled, exact


def kinds_of(names: Iterable[str]) -> Iterator[str]:
    """Yield the kind of each key, as the key table names it; OTHER for a key that is not the site's."""
    return (key.name if key else OTHER for key in recognise(names))


SAMPLE = 100
"""Articles measured for the mean."""


@dataclass(frozen=True, slots=True)
class KindMemory:
    """One kind of key: `size` is the mean in bytes over all articles; `having` of them have such a key."""

    kind: str
    size: float
    having: int


@dataclass(frozen=True, slots=True)
class Footprint:
    """Mean memory of `articles` recent articles, in bytes. `places`: the share in the rankings of all articles."""

    articles: int
    kinds: tuple[KindMemory, ...]
    places: float

    @property
    def size(self) -> float:
        """Bytes that an article takes in total."""
        return self.places + sum(kind.size for kind in self.kinds)


@dataclass(frozen=True, slots=True)
class KeyMemory:
    """One key of an article. `size` in bytes; `expires_in` in seconds, None if it does not expire."""

    name: str
    type: str
    encoding: str
    size: int
    expires_in: int | None


def keys_of(keys: Keys, article_id: ArticleId) -> dict[str, str]:
    """Return the key of each kind about one article, except those that throttle views for some minutes."""
    return {kind.name: keys.prefix + kind.of(article_id) for kind in TABLE if is_kept_with_article(kind)}


def mean_footprint(store: Store, sample: int = SAMPLE) -> Footprint | None:
    """Return the mean over the newest articles of every shard; None without articles. Two round trips.

    Raises redis.ResponseError if the server does not permit the commands.
    """
    newest, places = _newest(store, sample)
    named = [keys_of(store.shards.of(article_id), article_id) for article_id in newest]
    sizes = _sizes(store, [name for names in named for name in names.values()])
    if not newest:
        return None
    kinds = (_mean(kind, [sizes[names[kind]] for names in named]) for kind in named[0])
    return Footprint(len(newest), tuple(kind for kind in kinds if kind.having), places)


def _mean(kind: str, sizes: Sequence[int]) -> KindMemory:
    return KindMemory(kind, sum(sizes) / len(sizes), sum(size > 0 for size in sizes))


def _newest(store: Store, sample: int) -> tuple[list[ArticleId], float]:
    """Return ids, and the bytes that each article takes in the rankings that hold all of them."""
    each = -(-sample // store.shards.count)
    orders = [order for order in Order if order not in (Order.ACTIVE, Order.HOT)]
    rankings = [keys.order(order) for keys in store.shards.all for order in orders]
    with store.pipeline() as pipe:
        for keys in store.shards.all:
            pipe.zrevrange(keys.order(Order.TIME), 0, each - 1)
            pipe.zcard(keys.order(Order.TIME))
        for name in rankings:
            pipe.memory_usage(name)
        replies = _replies(pipe)
    lists, listed = replies[: 2 * store.shards.count : 2], sum(replies[1 : 2 * store.shards.count : 2])
    places = sum(size or 0 for size in replies[2 * store.shards.count :])
    return [article_id_from(member) for members in lists for member in members], places / max(1, listed)


def _sizes(store: Store, names: Iterable[str]) -> Mapping[str, int]:
    """Return the bytes of each key; 0 for a missing one."""
    keys = list(names)
    with store.pipeline() as pipe:
        for name in keys:
            pipe.memory_usage(name)
        return {name: size or 0 for name, size in zip(keys, _replies(pipe), strict=True)}


def _replies(pipe: Any) -> list[Any]:
    """Return all replies, or raise the first refusal without the position in the pipeline, which redis-py adds."""
    replies: list[Any] = pipe.execute(raise_on_error=False)
    for reply in replies:
        if isinstance(reply, redis.ResponseError):
            raise reply
    return replies


def article_keys(store: Store, article_id: ArticleId) -> tuple[KeyMemory, ...]:
    """Return the existing keys of an article. One round trip.

    Raises ArticleNotFound, and redis.ResponseError if the server does not permit the commands.
    """
    names = list(keys_of(store.shards.of(article_id), article_id).values())
    with store.pipeline() as pipe:
        for name in names:
            pipe.type(name)
            pipe.object("ENCODING", name)
            pipe.memory_usage(name)
            pipe.ttl(name)
        replies = _replies(pipe)
    rows = zip(names, replies[::4], replies[1::4], replies[2::4], replies[3::4], strict=True)
    keys = [KeyMemory(n, kind, str(e), size, ttl if ttl >= 0 else None) for n, kind, e, size, ttl in rows if size]
    if not keys or keys[0].name != names[0]:
        raise ArticleNotFound(article_id)
    return tuple(keys)
