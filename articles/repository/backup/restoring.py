"""Writes a backup into an empty store, and rebuilds from it what the backup does not contain.

The store may have more shards or fewer than the one that was copied: each key is placed.
"""

from base64 import b64decode
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from articles.domain.articles import ArticleId
from articles.domain.comments import root_of
from articles.domain.errors import StoreUnfit
from articles.repository.backup.reading import article_of_entry, of_entry
from articles.repository.backup.records import REMADE, BackupRecord, Entry, Layout
from articles.repository.ranking.parameters import NEXT
from articles.repository.store.connection import Store
from articles.repository.store.keys import (
    SCHEMA,
    TABLE,
    InBackup,
    Key,
    Keys,
    PartOf,
    Place,
    Shards,
    is_kept_with_article,
    recognise,
)
from articles.repository.store.scan import portions
from articles.repository.store.schema import OF_A_MOVE, RESTORING

_HIGHEST, _LOWEST = ("clock", "longest_window"), ("voters_dropped", "ballots_recorded")
"""Fields of `ranking:` in which shards differ; for each, the highest or the lowest value is right."""

_TRANSIENT = ("clock_start", "clock_uptime", "sampled_at", "since_day", "since_week", "since_month")


@dataclass(frozen=True, slots=True)
class Placed:
    """A key, or a part of one, to write into the store."""

    key: str
    kind: Key
    data: Any
    expires_ms: int | None = None


@dataclass
class Placing:
    """The target of the records of one backup: shards and keys."""

    before: int  # shards of the store that the backup was made of
    shards: Shards
    _parameters: dict[str, str] = field(default_factory=dict)
    _bounds: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _log: dict[Keys, list[tuple[float, str]]] = field(default_factory=lambda: defaultdict(list))

    def place(self, record: BackupRecord) -> Iterator[Placed]:
        """Yield the keys of a record, except those that `place_rest` yields at the end. Raises ValueError."""
        if record.shard is not None and not 0 <= record.shard < self.before:
            raise ValueError(f"there is no shard {record.shard}")
        for entry in record.entries:
            (kind,) = recognise([entry.name])
            if kind is None or kind.in_backup is not InBackup.COPIED:
                continue
            if kind is Keys.ranking:
                self._note_parameters(entry.data, record.shard or 0)
            elif kind is Keys.schema:
                stamp = {name: value for name, value in entry.data.items() if name not in OF_A_MOVE}
                yield Placed(entry.name, kind, stamp)
            elif kind is Keys.log and self.before != self.shards.count:
                self._note_log(entry.data)
            elif kind is Keys.log:
                yield Placed(self.shards.all[record.shard or 0].log, kind, entry.data)
            else:
                yield from self._place(kind, entry, record.shard or 0)

    def place_rest(self) -> Iterator[Placed]:
        """Yield what depends on all records: the logs and the parameters of all shards."""
        for keys, oldest_first in self._log.items():
            oldest_first.sort(key=lambda dated: dated[0])
            yield Placed(keys.log, Keys.log, [text for _, text in reversed(oldest_first)])
        bounds = {name: max(self._bounds[name], key=float) for name in _HIGHEST if self._bounds[name]}
        bounds |= {
            name: min(values, key=float)
            for name in _LOWEST
            if len(values := self._bounds[name]) == self.before  # a shard without it has dropped no voters
        }
        if self._parameters:
            for keys in self.shards.all:
                yield Placed(keys.ranking, Keys.ranking, self._parameters | bounds)

    def _place(self, kind: Key, entry: Entry, shard: int) -> Iterator[Placed]:
        name, data, expires = entry
        if kind in (Keys.article, Keys.comment):
            data = {field: value for field, value in data.items() if field != REMADE}
        if kind.place is Place.OUTSIDE:
            yield Placed(name, kind, data, expires)
        elif kind.place is Place.FIRST:
            yield Placed(self.shards.directory.prefix + name, kind, data, expires)
        elif kind.part_of is PartOf.ARTICLE:
            yield Placed(self.shards.of(int(kind.values(name)[0])).prefix + name, kind, data, expires)
        elif kind.part_of is PartOf.COMMENT:
            yield Placed(self.shards.of_comment(int(kind.values(name)[0])).prefix + name, kind, data, expires)
        elif kind is Keys.deleted_members or (kind in _LEFT_OUT and not shard):
            for keys in self.shards.all:
                yield Placed(keys.prefix + name, kind, data, expires)
        elif kind in _LEFT_OUT:
            return  # the first shard decides: acts begin there
        elif kind is Keys.viewed or kind.part_of is PartOf.MEMBER:
            for keys, part in self._split(data, of_comments=kind in (Keys.flags_by, Keys.inbox)).items():
                yield Placed(keys.prefix + name, kind, part, expires)
        else:  # figures of the site, which are added up over all shards
            keys = self.shards.all[shard if self.before == self.shards.count else 0]
            yield Placed(keys.prefix + name, kind, data, expires)

    def _split(self, ranking: Mapping[str, float], *, of_comments: bool) -> dict[Keys, dict[str, float]]:
        """Split a sorted set by shard: of articles; or of comments, or notices about comments."""
        parts: dict[Keys, dict[str, float]] = defaultdict(dict)
        shard_of = self.shards.of_comment if of_comments else self.shards.of
        for member, score in ranking.items():
            number = member.rpartition(":")[2] if of_comments else member
            if number.isdigit():
                parts[shard_of(int(number))][member] = score
        return parts

    def _note_parameters(self, fields: Mapping[str, str], shard: int) -> None:
        for name in (*_HIGHEST, *_LOWEST):
            if name in fields:
                self._bounds[name].append(fields[name])
        if shard == 0:
            self._parameters = {
                name: value
                for name, value in fields.items()
                if name not in _TRANSIENT and name not in _LOWEST and not name.startswith(NEXT)
            }

    def _note_log(self, newest_first: list[str]) -> None:
        """Note a part of a log. Parts come from the tail, so that all entries together begin with the oldest."""
        for text in reversed(newest_first):
            article: ArticleId = article_of_entry(text)
            keys = self.shards.of(article) if article else self.shards.directory
            self._log[keys].append((of_entry(text, float, "at"), text))


_LEFT_OUT = (Keys.left_out, Keys.left_out_acts, Keys.probation)


_RECORDS_PER_TRIP = 200


class StoreRestore:
    """The restore of one backup, given by its id and the layout of its store. Raises StoreError."""

    def __init__(self, store: Store, backup: str, layout: Layout) -> None:
        self._store = store
        self._backup = backup
        self._layout = layout

    def is_interrupted(self) -> bool:
        """Return whether the store holds the interrupted restore of this backup. One round trip."""
        with self._store.commands() as client:
            return bool(client.hget(SCHEMA, RESTORING) == self._backup)

    def begin(self) -> None:
        """Mark an empty store as being restored; empty one with an interrupted restore. Raises StoreUnfit."""
        if not self.is_interrupted():
            with self._store.commands() as client:
                if keys := client.dbsize():
                    raise StoreUnfit(f"The store holds {keys:,} keys.")
        with self._store.commands() as client:
            client.flushdb()
            client.hset(SCHEMA, RESTORING, self._backup)

    def write(self, records: Iterable[BackupRecord], progress: Callable[[int], object]) -> None:
        """Write a store's records, a round trip for each 200. `progress`: records written. Raises ValueError."""
        placing, done = Placing(self._layout.shards, self._store.shards), 0
        for batch in portions(records, _RECORDS_PER_TRIP):
            with self._store.pipeline() as pipe:
                for record in batch:
                    if record.is_repeated:
                        self._drop(pipe, record)
                    for placed in placing.place(record):
                        self._queue(pipe, placed)
                pipe.execute()
            done += len(batch)
            progress(done)
        for placed in placing.place_rest():
            with self._store.pipeline() as pipe:
                self._queue(pipe, placed)
                pipe.execute()
        with self._store.commands() as client:
            client.hset(SCHEMA, "shards", self._store.shards.count)

    def abandon(self) -> None:
        """Empty the store again. One round trip to each server."""
        with self._store.commands() as client:
            client.flushdb()

    def finish(self) -> None:
        """Let the site use the store. One round trip."""
        with self._store.commands() as client:
            client.hdel(SCHEMA, RESTORING)

    def _drop(self, pipe: Any, record: BackupRecord) -> None:
        """Drop what an earlier record wrote of the article or the comment that this one is about."""
        for entry in record.entries:
            if number := Keys.article.values(entry.name):
                keys = self._store.shards.of(int(number[0]))
                own = [kind for kind in TABLE if is_kept_with_article(kind)]
                pipe.unlink(*(keys.prefix + kind.of(*number) for kind in own), keys.flags(root_of(int(number[0]))))
            elif number := Keys.comment.values(entry.name):
                pipe.unlink(*self._store.shards.of_comment(int(number[0])).copied_of_comment(int(number[0])))

    def _queue(self, pipe: Any, placed: Placed) -> None:
        key, kind, data = placed.key, placed.kind, placed.data
        life_ms = None if placed.expires_ms is None else placed.expires_ms - round(self._store.now() * 1000)
        if (not data and kind is not Keys.visitors) or (life_ms is not None and life_ms <= 0):
            return
        if kind is Keys.visitors and not data:  # one that could not be read
            pipe.pfadd(key)
        elif kind is Keys.visitors:
            pipe.set(key, b64decode(data, validate=True))
        elif kind is Keys.visitors_of_day:
            _join_sketch(pipe, key, b64decode(data, validate=True))
        elif kind is Keys.site_days:
            for name, number in data.items():
                pipe.hincrby(key, name, int(number))
        else:
            _WRITE[kind.type](pipe, key, data)
        if life_ms is not None:
            pipe.pexpire(key, life_ms)


def _join_sketch(pipe: Any, key: str, sketch: bytes) -> None:
    """Add a HyperLogLog to that of another shard."""
    part = f"{key.rpartition(':')[0]}:0"  # the sketch of a day long ago
    pipe.set(part, sketch)
    pipe.pfmerge(key, part)
    pipe.unlink(part)


_WRITE: dict[str, Callable[[Any, str, Any], object]] = {
    "hash": lambda pipe, key, data: pipe.hset(key, mapping=data),
    "set": lambda pipe, key, data: [pipe.sadd(key, *part) for part in portions(data, 1000)],
    "zset": lambda pipe, key, data: [pipe.zadd(key, dict(part)) for part in portions(data.items(), 1000)],
    # Before what is there: parts come from the tail.
    "list": lambda pipe, key, data: [pipe.lpush(key, *part) for part in portions(reversed(data), 1000)],
    "string": lambda pipe, key, data: pipe.set(key, data),
}
