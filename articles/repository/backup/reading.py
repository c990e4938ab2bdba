"""Reads a store for a backup, while it is in use.

Each article is read in one step with its voters, counts and views, and each comment with its voters. Lists that a
restore can derive are not read. The order keeps the parts consistent. Members' lists come before articles, so that
no list names a missing article; articles before comments, and parents before their replies. Keys about the whole
site come after the accounts, so that no log contains a name that was removed from an account. At the end,
everything that moderators changed meanwhile is read again, so that nothing is visible that the log calls removed.
"""

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import getitem
from typing import Any, TypeAlias, TypeVar

import redis

from articles.domain.articles import ArticleId
from articles.domain.comments import CommentId, article_of, root_of
from articles.domain.errors import StoreDamaged
from articles.repository.backup.records import REMADE, BackupRecord, Entry, Layout
from articles.repository.store import keys as names
from articles.repository.store.batches import (
    ARTICLES_PER_CHECK,
    ENTRIES_PER_READ,
    ENTRIES_PER_STEP,
    KEYS_PER_READ,
    read_ahead,
)
from articles.repository.store.clients.guarded_connection import store_errors
from articles.repository.store.connection import Store
from articles.repository.store.keys import InBackup, Key, Keys, PartOf, Place, split_prefix
from articles.repository.store.scan import portions, walk_kinds

N = TypeVar("N", int, float)

Progress: TypeAlias = Callable[[int, int], object]
Report: TypeAlias = Callable[[str], object]  # receives the name of each key that cannot be read
_Named: TypeAlias = tuple[str, Key]  # a key's name, and its kind

_LISTS = (Keys.log, Keys.tunings)  # lists that grow at their heads, and are read from their tails in parts

_SKETCHES = (Keys.visitors, Keys.visitors_of_day)


def read_layout(store: Store) -> Layout:
    with store.commands() as client:
        version, shards, site = client.hmget(names.SCHEMA, "version", "shards", "site")
    if not (version and shards and site):
        raise StoreDamaged("it has no stamp")
    return Layout(int(version), int(shards), site)


class BackupReader:
    """One backup of a store, in three parts that are to be read in this order. Raises StoreError."""

    def __init__(self, store: Store, report: Report) -> None:
        self._store = store
        self._report = report
        self._numbers = {keys.prefix: number for number, keys in enumerate(store.shards.all)}
        self._lists: list[_Named] = []
        self._site: list[_Named] = []
        lengths = store.in_shards(lambda pipe, keys: pipe.llen(keys.log))
        self._logged = dict(zip(store.shards.all, lengths, strict=True))
        self._highest: ArticleId = 0
        self._last_comments: dict[ArticleId, CommentId] = {}
        self.foreign = 0  # keys that are not the site's, and are not in the backup
        self._survey()

    def _survey(self) -> None:
        """Collect the names of all keys that are read one by one. Reads the names of all keys."""
        for batch in walk_kinds(self._store):
            for name, kind in batch:
                if kind is None:
                    self.foreign += 1
                elif kind is Keys.article:
                    (number,) = kind.values(split_prefix(name)[1])
                    self._highest = max(self._highest, int(number))
                elif kind is Keys.comment:
                    comment_id = int(kind.values(split_prefix(name)[1])[0])
                    last = self._last_comments.get(article_of(comment_id), 0)
                    self._last_comments[article_of(comment_id)] = max(last, comment_id)
                elif kind.in_backup is InBackup.COPIED and kind.part_of not in (PartOf.ARTICLE, PartOf.COMMENT):
                    is_members = kind.part_of is PartOf.MEMBER or kind in (Keys.link, Keys.accounts)
                    if kind is not Keys.viewed:
                        (self._lists if is_members else self._site).append((name, kind))

    # Before the accounts

    def iterate_lists(self) -> Iterator[BackupRecord]:
        """Yield members' lists and claims of links. One round trip for each batch."""
        yield from self.iterate_keys(self._lists)

    def iterate_articles(self, progress: Progress) -> Iterator[BackupRecord]:
        """Yield articles, then comments. About one round trip a batch. `progress`: ids read, of total."""
        with self._store.commands() as client:
            highest = max(self._highest, int(client.get(names.COUNTER) or 0))
        done, count = 0, self._store.shards.count
        total = highest + sum(last - root_of(article_id) for article_id, last in self._last_comments.items())
        for number, keys in enumerate(self._store.shards.all):
            ids = portions(range(number or count, highest + 1, count), ARTICLES_PER_CHECK)
            for size, records in read_ahead(partial(self.read_articles, keys), ids):
                yield from records
                done += size
                progress(done, total)
        for keys, discussed in self._store.shards.split(sorted(self._last_comments)).items():
            for size, records in read_ahead(
                partial(self.read_comments, keys), portions(self._comment_ids(discussed), ARTICLES_PER_CHECK)
            ):
                yield from records
                done += size
                progress(done, total)

    def _comment_ids(self, articles: Iterable[ArticleId]) -> Iterator[CommentId]:
        """Yield the ids that comments of these articles may have, up to the last one that existed."""
        for article_id in articles:
            yield from range(root_of(article_id) + 1, self._last_comments[article_id] + 1)

    # After the accounts

    def iterate_site(self) -> Iterator[BackupRecord]:
        """Yield the keys about the whole site, and once more what moderators changed meanwhile."""
        yield from self.iterate_keys([(name, kind) for name, kind in self._site if kind not in _LISTS])
        for name, kind in self._site:
            if kind in _LISTS:
                yield from self.iterate_list(name, kind)
        articles, comments = self._changed_ids()
        again = [self.read_articles(keys, ids) for keys, ids in self._store.shards.split(articles).items()]
        for comment_id in comments:
            # If it was posted since then, the article above it may not be in the backup.
            if comment_id <= self._last_comments.get(article_of(comment_id), 0):
                again.append(self.read_comments(self._store.shards.of_comment(comment_id), [comment_id]))
        for _, records in again:
            yield from (replace(record, is_repeated=True) for record in records)

    def _changed_ids(self) -> tuple[set[ArticleId], set[CommentId]]:
        """Return the articles and the comments that the log has new entries about."""
        articles, comments = set[ArticleId](), set[CommentId]()
        for keys, before in self._logged.items():
            with self._store.commands() as client:
                new = client.llen(keys.log) - before
                texts = client.lrange(keys.log, 0, new - 1) if new > 0 else []
            articles.update(filter(None, map(article_of_entry, texts)))
            comments.update(of_entry(text, int, "details", "comment") for text in texts)
        comments.discard(0)
        return articles, comments

    def read_articles(self, keys: Keys, ids: Sequence[ArticleId]) -> tuple[int, list[BackupRecord]]:
        """Return how many ids these are, and the records of those that exist."""
        return self._read("backup/read", keys, ids, lambda _: [keys.viewed])

    def read_comments(self, keys: Keys, ids: Sequence[CommentId]) -> tuple[int, list[BackupRecord]]:
        """Return how many ids these are, and the records of those that exist."""
        return self._read("backup/read_comments", keys, ids, lambda waiting: list(map(keys.comment, waiting)))

    def _read(
        self, script: str, keys: Keys, ids: Sequence[int], given: Callable[[Sequence[int]], list[str]]
    ) -> tuple[int, list[BackupRecord]]:
        records, waiting = list[BackupRecord](), list(ids)
        while waiting:
            done, found = self._store.run(script, given(waiting), [keys.prefix, ENTRIES_PER_STEP, *waiting])
            waiting = waiting[done:]
            records += self._records(keys, found)
        return len(ids), records

    def _records(self, keys: Keys, articles: Sequence[Any]) -> Iterator[BackupRecord]:
        now = round(self._store.now() * 1000)
        sketches = self._read_sketches(
            [keys.prefix + one[0] for _, _, *found in articles for one in found if one[2] == "sketch"]
        )
        for article_id, viewed_at, *found in articles:
            entries = []
            for name, life, kind, value in found:
                if value is None:
                    self._report(keys.prefix + name)
                    continue
                data: Any = value
                if kind in ("hash", "zset"):
                    pairs = zip(value[::2], value[1::2], strict=True)
                    data = {one: float(of) if kind == "zset" else of for one, of in pairs if one != REMADE}
                data = sketches.get(keys.prefix + name, "") if kind == "sketch" else data
                entries.append(Entry(name, data, now + life if life >= 0 else None))
            if viewed_at:
                entries.append(Entry(Keys.viewed.name, {article_id: float(viewed_at)}))
            yield BackupRecord(self._numbers[keys.prefix], tuple(entries))

    def _read_sketches(self, sketches: Sequence[str]) -> dict[str, str]:
        """Return those of these sketches that can be read, in base64. One round trip."""
        if not sketches:
            return {}
        with self._store.pipeline() as pipe:
            for name in sketches:
                pipe.execute_command("GET", name, NEVER_DECODE=[])  # type: ignore[no-untyped-call]
            values = pipe.execute(raise_on_error=False)
        read = dict(zip(sketches, values, strict=True))
        for name, value in read.items():
            if isinstance(value, Exception):
                self._report(name)
        return {name: _base64(value) for name, value in read.items() if isinstance(value, bytes)}

    def iterate_keys(self, wanted: Iterable[_Named]) -> Iterator[BackupRecord]:
        """Yield a record of each key, without those that have expired."""
        for batch in portions(wanted, KEYS_PER_READ):
            with self._store.pipeline() as pipe:
                for name, kind in batch:
                    _read_whole(pipe, name, kind)
                    pipe.pttl(name)
                replies = pipe.execute(raise_on_error=False)
            now = round(self._store.now() * 1000)
            for (name, kind), value, life in zip(batch, replies[::2], replies[1::2], strict=True):
                if isinstance(value, Exception):
                    self._note_failure(name, value)
                elif life != -2 and value is not None:
                    yield self._record(name, kind, _as_data(value), now + life if life >= 0 else None)

    def _note_failure(self, name: str, error: Exception) -> None:
        """Report a key of another type. Raises StoreError for other failures."""
        try:
            with store_errors():
                raise error
        except StoreDamaged:
            self._report(name)

    def iterate_list(self, name: str, kind: Key) -> Iterator[BackupRecord]:
        """Yield a list from its tail in parts, each with its newest entry first. New entries shift no others."""
        done, part = 0, ["…"]
        while part:
            with self._store.commands() as client:
                try:
                    part = client.lrange(name, -done - ENTRIES_PER_READ, -done - 1)
                except redis.ResponseError as error:
                    self._note_failure(name, error)
                    return
            if part:
                yield self._record(name, kind, part, None)
            done += ENTRIES_PER_READ

    def _record(self, name: str, kind: Key, data: Any, expires_ms: int | None) -> BackupRecord:
        prefix, rest = split_prefix(name)
        shard = None if kind.place is Place.OUTSIDE else self._numbers[prefix]
        return BackupRecord(shard, (Entry(rest, data, expires_ms),))


def of_entry(text: str, kind: type[N], *path: str) -> N:
    """Return a number in an entry of the log; 0 if it has none, or is damaged."""
    try:
        return kind(reduce(getitem, path, json.loads(text)))
    except (ValueError, KeyError, TypeError, RecursionError):
        return kind(0)


def article_of_entry(text: str) -> ArticleId:
    """Return the article that an entry of the log is about; 0 for none, or for a damaged entry."""
    return of_entry(text, int, "id")


def _read_whole(pipe: Any, name: str, kind: Key) -> None:
    match kind.type:
        case "hash":
            pipe.hgetall(name)
        case "set":
            pipe.smembers(name)
        case "zset":
            pipe.zrange(name, 0, -1, withscores=True)
        case "string" if kind in _SKETCHES:
            pipe.execute_command("GET", name, NEVER_DECODE=[])
        case "string":
            pipe.get(name)


def _as_data(value: Any) -> Any:
    """Return a reply as JSON can hold it."""
    if isinstance(value, set):
        return sorted(value)
    if isinstance(value, bytes):
        return _base64(value)
    if isinstance(value, list):
        return {member: score for member, score in value}  # noqa: C416 - pairs of another kind
    return value


def _base64(value: bytes) -> str:
    return b64encode(value).decode("ascii")
