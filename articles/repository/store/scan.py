"""Scans a store key by key."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from articles.domain.articles import ArticleId
from articles.domain.comments import CommentId
from articles.domain.lists import Order
from articles.domain.members import UserId
from articles.repository.store.batches import KEYS_PER_SCAN
from articles.repository.store.connection import Store
from articles.repository.store.keys import (
    REPLIES,
    Key,
    Keys,
    PartOf,
    Place,
    Shards,
    is_kept_with_article,
    recognise,
    split_prefix,
)

T = TypeVar("T")


@dataclass(slots=True)
class Contents:
    """Ids and slugs of one shard."""

    articles: set[ArticleId] = field(default_factory=set)
    mentioned: set[ArticleId] = field(default_factory=set)  # ids of articles in the names of other keys
    groups: set[str] = field(default_factory=set)
    members: set[UserId] = field(default_factory=set)  # members with a list of votes or opposes
    comments: set[CommentId] = field(default_factory=set)  # ids of comments in the names of hashes and voter sets
    threads: set[CommentId] = field(default_factory=set)  # ids of comments and roots with lists of replies
    authors: set[UserId] = field(default_factory=set)  # members with a list of comments
    flagged: set[CommentId] = field(default_factory=set)  # ids of comments, and roots of articles, with flags
    flaggers: set[UserId] = field(default_factory=set)  # members with a list of flags
    inboxes: set[UserId] = field(default_factory=set)  # members with an inbox


def walk(store: Store) -> Iterator[list[str]]:
    """Yield all keys in batches. A key that exists throughout the scan is yielded at least once.

    If a cluster moves keys to another server meanwhile, all are yielded again: a key may have left one server
    before that was scanned, for one that had been scanned already.
    """
    layout, is_second = store.layout(), False
    while True:
        for server in store.servers():
            yield from _walk_one(store, server)
        before, layout = layout, store.layout()
        if before == layout and (is_second or not layout.moves):
            return
        is_second = True


def _walk_one(store: Store, server: Any) -> Iterator[list[str]]:
    cursor = 0
    while True:
        with store.commands():
            cursor, names = server.scan(cursor, count=KEYS_PER_SCAN)
        yield names
        if cursor == 0:
            return


def walk_kinds(store: Store) -> Iterator[list["Named"]]:
    """Yield all keys like `walk`, each with its kind; None where no part of the site writes it in that place."""
    for names in walk(store):
        kinds = zip(names, recognise(names), strict=True)
        yield [
            (name, kind if kind and _is_in_its_place(kind, name, store.shards) else None) for name, kind in kinds
        ]


Named = tuple[str, Key | None]  # a key and its kind; None where no part of the site writes it in that place


def survey(store: Store, batches: Iterable[list[Named]] | None = None) -> tuple[dict[Keys, Contents], list[str]]:
    """Return what each shard holds, and stray keys: those that no part of the site writes into that shard.

    `batches`: all keys as `walk_kinds` yields them, from a caller who reads them as well.
    """
    shards = {keys.prefix: Contents() for keys in store.shards.all}
    foreign: list[str] = []
    for batch in walk_kinds(store) if batches is None else batches:
        for name, kind in batch:
            prefix, rest = split_prefix(name)
            if kind is None:
                foreign.append(name)
            elif prefix in shards:
                _note(shards[prefix], kind, _values(kind, rest))
    return {keys: shards[keys.prefix] for keys in store.shards.all}, foreign


def _values(kind: Key, rest: str) -> tuple[str, ...]:
    """Return the variable parts of a name that was recognised: a single one is at its end."""
    return (rest[rest.rfind(":") + 1 :],) if len(kind.variables) == 1 else kind.values(rest)


def _is_in_its_place(kind: Key, name: str, shards: Shards) -> bool:
    if shards.count == 1:
        return not name.startswith("{")
    prefix, rest = split_prefix(name)
    if kind.place is Place.OUTSIDE:
        return not prefix
    if kind.place is Place.FIRST:
        return prefix == shards.directory.prefix
    if kind.part_of is PartOf.ARTICLE:
        return prefix == shards.of(int(kind.values(rest)[0])).prefix
    if kind.part_of is PartOf.COMMENT:
        return prefix == shards.of_comment(int(kind.values(rest)[0])).prefix
    return any(prefix == keys.prefix for keys in shards.all)


def _note(contents: Contents, kind: Key, values: tuple[str, ...]) -> None:
    if kind is Keys.article:
        contents.articles.add(int(values[0]))
    elif is_kept_with_article(kind):
        contents.mentioned.add(int(values[0]))
    elif kind.part_of is PartOf.GROUP:
        contents.groups.add(values[0])
    elif kind is Keys.flags:
        contents.flagged.add(int(values[0]))
    elif kind is Keys.flags_by:
        contents.flaggers.add(int(values[0]))
    elif kind.part_of is PartOf.COMMENT:
        (contents.threads if kind in REPLIES.values() else contents.comments).add(int(values[0]))
    elif kind is Keys.commented:
        contents.authors.add(int(values[0]))
    elif kind is Keys.inbox:
        contents.inboxes.add(int(values[0]))
    elif kind in (Keys.votes_of, Keys.opposes_of):
        contents.members.add(int(values[0]))


def batches(ids: Iterable[ArticleId], size: int) -> Iterator[list[str]]:
    """Yield the ids in order, as text, in lists of at most `size`."""
    ordered = [str(article_id) for article_id in sorted(ids)]
    for at in range(0, len(ordered), size):
        yield ordered[at : at + size]


def portions(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield the items in their given order, in lists of at most `size`."""
    waiting = iter(items)
    while portion := list(islice(waiting, size)):
        yield portion


def filled(items: Iterable[T], weigh: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """Yield the items in their given order, in lists of at most this weight; a heavier item is alone."""
    portion, total = list[T](), 0
    for item in items:
        weight = weigh(item)
        if portion and total + weight > most:
            yield portion
            portion, total = [], 0
        portion.append(item)
        total += weight
    if portion:
        yield portion


def set_members(store: Store, key: str) -> Iterator[str]:
    """Yield the members of a set of any size, in batches. One may be yielded twice."""
    return _scanned(store, "sscan", key)


def hash_fields(store: Store, key: str) -> Iterator[str]:
    """Yield the fields of a hash of any size, in batches. One may be yielded twice."""
    return _scanned(store, "hscan", key)


def ranked_members(store: Store, key: str) -> Iterator[str]:
    """Yield the members of a sorted set of any size, in batches and unordered. One may be yielded twice."""
    return (member for member, _ in ranked(store, key))


def ranked(store: Store, key: str) -> Iterator[tuple[str, float]]:
    """Yield them with their values."""
    return _scanned(store, "zscan", key)


def newest_since(store: Store, times: str, since: float) -> Iterator[str]:
    """Yield ids in a ranking by posting time from `since` (Unix seconds) on. An id may be yielded twice."""
    done = 0
    while True:
        with store.commands() as client:
            batch = client.zrevrangebyscore(times, "+inf", f"{since:.3f}", start=done, num=KEYS_PER_SCAN)
        yield from batch
        done += len(batch)
        if len(batch) < KEYS_PER_SCAN:
            return


def _scanned(store: Store, command: str, key: str) -> Iterator[Any]:
    cursor = 0
    while True:
        with store.commands() as client:
            cursor, batch = getattr(client, command)(key, cursor, count=KEYS_PER_SCAN)
        yield from batch
        if cursor == 0:
            return


def rankings_of_articles(keys: Keys) -> tuple[str, ...]:
    """Return the rankings of a shard whose members are ids of its articles."""
    return (*map(keys.order, Order), keys.removed, keys.next_score, keys.viewed, keys.rings, keys.merging)
