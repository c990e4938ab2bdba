"""Writes a backup into an empty store, and rebuilds from it what the backup does not contain.

Until everything is written, a field of the stamp names the backup: no site starts on half of one. A restore that
was interrupted begins again.
"""

from base64 import b64decode
from collections.abc import Callable, Iterable
from typing import Any

from articles.domain.comments import root_of
from articles.domain.errors import StoreUnfit
from articles.repository.backup.placing import Placed, Placing
from articles.repository.backup.records import BackupRecord, Layout
from articles.repository.store import key_table as table
from articles.repository.store import keys as names
from articles.repository.store.connection import Store
from articles.repository.store.scan import portions
from articles.repository.store.schema import RESTORING

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
            return bool(client.hget(names.SCHEMA, RESTORING) == self._backup)

    def begin(self) -> None:
        """Mark an empty store as being restored; empty one with an interrupted restore. Raises StoreUnfit."""
        if not self.is_interrupted():
            with self._store.commands() as client:
                if keys := client.dbsize():
                    raise StoreUnfit(f"The store holds {keys:,} keys.")
        with self._store.commands() as client:
            client.flushdb()
            client.hset(names.SCHEMA, RESTORING, self._backup)

    def write(self, records: Iterable[BackupRecord], progress: Callable[[int], object]) -> None:
        """Write all records of a store. One round trip for each 200. `progress`: number of records written.

        Raises ValueError for a record that cannot be written.
        """
        self.write_some(records, progress)
        with self._store.commands() as client:
            client.hset(names.SCHEMA, "shards", self._store.shards.count)

    def write_some(
        self, records: Iterable[BackupRecord], progress: Callable[[int], object] = lambda _done: None
    ) -> None:
        """Write records into a store that has others. One round trip for each 200."""
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

    def abandon(self) -> None:
        """Empty the store again. One round trip to each server."""
        with self._store.commands() as client:
            client.flushdb()

    def finish(self) -> None:
        """Let the site use the store. One round trip."""
        with self._store.commands() as client:
            client.hdel(names.SCHEMA, RESTORING)

    def _drop(self, pipe: Any, record: BackupRecord) -> None:
        """Drop what an earlier record wrote of the article or the comment that this one is about."""
        for entry in record.entries:
            if number := table.ARTICLE.values(entry.name):
                keys = self._store.shards.of(int(number[0]))
                own = [kind for kind in table.TABLE if table.is_kept_with_article(kind)]
                pipe.unlink(*(keys.prefix + kind.of(*number) for kind in own), keys.flags(root_of(int(number[0]))))
            elif number := table.COMMENT.values(entry.name):
                pipe.unlink(*self._store.shards.of_comment(int(number[0])).copied_of_comment(int(number[0])))

    def _queue(self, pipe: Any, placed: Placed) -> None:
        """Add the commands that write a key."""
        key, kind, data = placed.key, placed.kind, placed.data
        life_ms = None if placed.expires_ms is None else placed.expires_ms - round(self._store.now() * 1000)
        if (not data and kind is not table.VISITORS) or (life_ms is not None and life_ms <= 0):
            return
        if kind is table.VISITORS:
            _set_sketch(pipe, key, b64decode(data, validate=True))
        elif kind is table.VISITORS_OF_DAY:
            _merge_sketch(pipe, key, b64decode(data, validate=True))
        elif kind is table.SITE_DAYS:
            for name, number in data.items():
                pipe.hincrby(key, name, int(number))
        else:
            _WRITE[kind.type](pipe, key, data)
        if life_ms is not None:
            pipe.pexpire(key, life_ms)


def _set_sketch(pipe: Any, key: str, sketch: bytes) -> None:
    """Write a HyperLogLog, an empty one for one that could not be read."""
    if sketch:
        pipe.set(key, sketch)
    else:
        pipe.pfadd(key)


def _merge_sketch(pipe: Any, key: str, sketch: bytes) -> None:
    """Merge a HyperLogLog into that of another shard."""
    part = f"{key.rpartition(':')[0]}:0"  # the sketch of a day long ago
    pipe.set(part, sketch)
    pipe.pfmerge(key, part)
    pipe.unlink(part)


def _push(pipe: Any, key: str, newest_first: list[str]) -> None:
    """Put a part of a list before what is there: parts come from the tail."""
    for part in portions(reversed(newest_first), 1000):
        pipe.lpush(key, *part)


_WRITE: dict[str, Callable[[Any, str, Any], object]] = {
    "hash": lambda pipe, key, data: pipe.hset(key, mapping=data),
    "set": lambda pipe, key, data: [pipe.sadd(key, *part) for part in portions(data, 1000)],
    "zset": lambda pipe, key, data: [pipe.zadd(key, dict(part)) for part in portions(data.items(), 1000)],
    "list": _push,
    "string": lambda pipe, key, data: pipe.set(key, data),
}
