"""How much of the store's memory articles take."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import redis

from articles.domain.articles import ArticleId
from articles.domain.errors import ArticleNotFound
from articles.domain.lists import Order
from articles.repository.store.connection import Store
from articles.repository.store.key_table import TABLE, is_kept_with_article
from articles.repository.store.keys import Keys

SAMPLE = 100
"""Articles looked at for the mean."""


@dataclass(frozen=True, slots=True)
class KindMemory:
    """One kind of key in the mean article: `size` in bytes over all articles; `having` of them have such a key."""

    kind: str
    size: float
    having: int


@dataclass(frozen=True, slots=True)
class Footprint:
    """The mean over `articles` recent ones, in bytes. `places` is its share of the rankings of all articles."""

    articles: int
    kinds: tuple[KindMemory, ...]
    places: float

    @property
    def size(self) -> float:
        """What one article takes in all."""
        return self.places + sum(kind.size for kind in self.kinds)


@dataclass(frozen=True, slots=True)
class KeyMemory:
    """One key of an article. `size` in bytes; `expires_in` in seconds, None for good."""

    name: str
    type: str
    encoding: str
    size: int
    expires_in: int | None


def keys_of(keys: Keys, article_id: ArticleId) -> dict[str, str]:
    """Return the key of each kind about one article, except those that throttle views for some minutes."""
    return {kind.name: keys.prefix + kind.of(article_id) for kind in TABLE if is_kept_with_article(kind)}


def mean_footprint(store: Store, sample: int = SAMPLE) -> Footprint | None:
    """The mean over the newest articles of every shard; None where there are none. Two round trips.

    Raises redis.ResponseError where the server does not let us look.
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
    """Ids, and the bytes that each article takes in the three rankings of all articles."""
    each = -(-sample // store.shards.count)
    rankings = [
        keys.order(order) for keys in store.shards.all for order in (Order.SCORE, Order.TIME, Order.POINTS)
    ]
    with store.pipeline() as pipe:
        for keys in store.shards.all:
            pipe.zrevrange(keys.order(Order.TIME), 0, each - 1)
            pipe.zcard(keys.order(Order.TIME))
        for name in rankings:
            pipe.memory_usage(name)
        replies = _replies(pipe)
    lists, listed = replies[: 2 * store.shards.count : 2], sum(replies[1 : 2 * store.shards.count : 2])
    places = sum(size or 0 for size in replies[2 * store.shards.count :])
    return [int(member) for members in lists for member in members], places / max(1, listed)


def _sizes(store: Store, names: Iterable[str]) -> Mapping[str, int]:
    """Bytes by key; 0 for keys that are not there."""
    asked = list(names)
    with store.pipeline() as pipe:
        for name in asked:
            pipe.memory_usage(name)
        return {name: size or 0 for name, size in zip(asked, _replies(pipe), strict=True)}


def _replies(pipe: Any) -> list[Any]:
    """All replies; the first refusal among them is raised without the command's place, which redis-py adds."""
    replies: list[Any] = pipe.execute(raise_on_error=False)
    for reply in replies:
        if isinstance(reply, redis.ResponseError):
            raise reply
    return replies


def article_keys(store: Store, article_id: ArticleId) -> tuple[KeyMemory, ...]:
    """The keys of one article that are there. One round trip.

    Raises ArticleNotFound, and redis.ResponseError where the server does not let us look.
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
    found = [(n, t, e, s, ttl if ttl >= 0 else None) for n, t, e, s, ttl in rows if s]
    if not found or found[0][0] != names[0]:
        raise ArticleNotFound(article_id)
    return tuple(KeyMemory(name, kind, str(encoding), size, ttl) for name, kind, encoding, size, ttl in found)
