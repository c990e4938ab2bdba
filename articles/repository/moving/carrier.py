"""Carries what has changed in one store into another that is a copy of it."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from articles.domain.articles import ArticleId
from articles.domain.comments import CommentId, article_of, is_root
from articles.repository.backup.reading import BackupReader
from articles.repository.backup.records import BackupRecord, Layout
from articles.repository.backup.restoring import StoreRestore
from articles.repository.lists.hot import Hot
from articles.repository.lists.reading import split_groups
from articles.repository.ranking.parameters import RankingParameters, begun_in
from articles.repository.store import key_table as table
from articles.repository.store import keys as names
from articles.repository.store.batches import ARTICLES_PER_CHECK, KEYS_PER_READ
from articles.repository.store.connection import Store
from articles.repository.store.key_table import (
    InBackup,
    Key,
    Owner,
    Place,
    is_kept_with_article,
    recognise,
    split_prefix,
)
from articles.repository.store.scan import portions
from articles.repository.store.values import parameters_from
from articles.repository.upkeep.repair import Repair

_OUTSIDE = (table.SAVED, table.LINK, table.SHIFT)
_PATTERNS = ("saved:*", "link:*", "shift:*")
_DAY = 86400
_KEYS_PER_SCAN = 10_000
_SAME_LIFE_MS = 1000
"""Milliseconds by which the computed expiry of an unchanged key may differ."""

_ADDED_UP = (
    *(table.SITE_DAYS, table.LOG, table.TUNINGS),
    *(table.GROUPS, table.DESCRIPTIONS, table.MERGED, table.LEFT_OUT, table.LEFT_OUT_ACTS, table.PROBATION),
)
"""Kinds of keys that are rewritten as a whole, from all shards."""


@dataclass
class Changes:
    """What has changed in the shards."""

    articles: set[ArticleId] = field(default_factory=set)
    comments: set[CommentId] = field(default_factory=set)
    members: set[str] = field(default_factory=set)
    """Names of members' lists, without prefix."""

    site: list[tuple[str, Key]] = field(default_factory=list)
    """Names of keys about the whole site, with their kinds."""

    @classmethod
    def among(cls, taken: Mapping[str, Iterable[str]]) -> "Changes":
        """Return what these changed keys, grouped by the prefix of their shard, are about."""
        changes = cls()
        for keys in taken.values():
            ordered = list(keys)
            for name, kind in zip(ordered, recognise(ordered), strict=True):
                if kind is not None:
                    changes._note(name, kind)
        return changes

    def _note(self, name: str, kind: Key) -> None:
        rest = split_prefix(name)[1]
        if is_kept_with_article(kind):
            self.articles.add(int(kind.values(rest)[0]))
        elif kind is table.FLAGS and is_root(int(kind.values(rest)[0])):
            self.articles.add(article_of(int(kind.values(rest)[0])))
        elif kind.in_backup is InBackup.COPIED and kind.owner is Owner.COMMENT:
            self.comments.add(int(kind.values(rest)[0]))
        elif kind.in_backup is InBackup.COPIED and kind.owner is Owner.MEMBER:
            self.members.add(rest)
        elif kind.in_backup is InBackup.COPIED and kind not in (table.VIEWED, table.RANKING):
            self.site.append((name, kind))


class _Carried(NamedTuple):
    """What is remembered of a key outside the shards."""

    content: int
    expires_ms: int | None

    @classmethod
    def of(cls, record: BackupRecord) -> "_Carried":
        (entry,) = record.entries
        return cls(hash(json.dumps(entry.data)), entry.expires_ms)

    def is_still(self, other: "_Carried | None") -> bool:
        """Return whether a key that was carried like the other need not be carried again."""
        if other is None or self.content != other.content:
            return False
        if self.expires_ms is None or other.expires_ms is None:
            return self.expires_ms == other.expires_ms
        return abs(self.expires_ms - other.expires_ms) <= _SAME_LIFE_MS


class Carrier:
    """Carries changes from one store to another."""

    def __init__(self, source: Store, target: Store, repair: Repair, reader: BackupReader, layout: Layout) -> None:
        self._source = source
        self._target = target
        self._hot = Hot(target)
        self._repair = repair
        self._reader = reader
        self._layout = layout
        self._outside: dict[str, _Carried] | None = None
        """What is outside the shards, by name, as last carried."""

    def carry(self, changes: Changes) -> None:
        """Carry these changes. Safe to repeat."""
        self._carry_site(changes.site)
        for batch in portions(sorted(changes.articles), ARTICLES_PER_CHECK):
            self._carry_articles(batch)
        for batch in portions(sorted(changes.comments), ARTICLES_PER_CHECK):
            self._carry_comments(batch)
        if changes.articles or any(kind is table.LOG for _, kind in changes.site):
            self._repair.settle_log()  # articles' hashes say where the log of the source has their entries
        for lists in portions(sorted(changes.members), KEYS_PER_READ):
            self._carry_lists(lists)
        fixed = [(names.ACCOUNTS, table.ACCOUNTS), (names.COUNTER, table.COUNTER)]
        self._restore().write_some(list(self._reader.iterate_keys(fixed)))
        self._carry_parameters()

    def _carry_articles(self, ids: Sequence[ArticleId]) -> None:
        former = self._former(ids)
        records: list[BackupRecord] = []
        for keys, numbers in self._source.shards.split(ids).items():
            _size, found = self._reader.read_articles(keys, numbers)
            records += (BackupRecord(one.shard, one.entries, is_repeated=True) for one in found)
        self._restore().write_some(records)
        self._repair.settle(ids, former)

    def _former(self, ids: Sequence[ArticleId]) -> dict[ArticleId, tuple[str, ...]]:
        """Return the groups that the copies of articles have had. One round trip."""
        with self._target.pipeline() as pipe:
            for article_id in ids:
                pipe.hget(self._target.shards.of(article_id).article(article_id), "groups")
            replies = pipe.execute()
        return {article_id: split_groups(groups or "") for article_id, groups in zip(ids, replies, strict=True)}

    def _carry_comments(self, ids: Sequence[CommentId]) -> None:
        """Rewrite comments, and drop those that are deleted."""
        with self._target.pipeline() as pipe:
            for comment_id in ids:
                copy = self._target.shards.of_comment(comment_id).comment(comment_id)
                pipe.hmget(copy, "parent", "author")
            replies = pipe.execute()
        former = {one: (parent, author) for one, (parent, author) in zip(ids, replies, strict=True)}
        records: list[BackupRecord] = []
        for keys, comments in self._source.shards.split_comments(ids).items():
            records += self._reader.read_comments(keys, comments)[1]
        self._unlink(key for one in ids for key in self._target.shards.of_comment(one).copied_of_comment(one))
        self._restore().write_some(records)
        self._repair.settle_comments(ids, former)

    def _carry_lists(self, lists: Sequence[str]) -> None:
        """Rewrite members' lists: each is in several shards, in the source and in the target."""
        named = [
            (keys.prefix + name, kind)
            for keys in self._source.shards.all
            for name, kind in zip(lists, recognise(lists), strict=True)
            if kind is not None
        ]
        records = list(self._reader.iterate_keys(named))
        self._unlink(keys.prefix + name for keys in self._target.shards.all for name in lists)
        self._restore().write_some(records)

    def _carry_site(self, changed: Sequence[tuple[str, Key]]) -> None:
        kinds = {kind for _, kind in changed}
        rewritten = [kind for kind in _ADDED_UP if kind in kinds]
        records = list(self._reader.iterate_keys([one for one in changed if one[1] not in _ADDED_UP]))
        for kind in rewritten:
            records += self._read_all(kind)
        self._unlink(keys.prefix + kind.of() for keys in self._target.shards.all for kind in rewritten)
        self._restore().write_some(records)

    def _carry_parameters(self) -> None:
        """Carry the ranking's parameters, and a change of them that has begun, which the site completes there.

        Then rescore the hot list: they say for which moment the other one is scored.
        """
        records = list(self._read_all(table.RANKING))
        current: Mapping[str, str] = records[0].entries[0].data  # the first shard's
        RankingParameters(self._target).follow(parameters_from(current), int(current["version"]))
        self._restore().write_some(records)
        if begun := begun_in(current):
            with self._target.commands() as client:
                client.hset(self._target.shards.directory.ranking, mapping=begun)
        self._hot.rescore()

    def _read_all(self, kind: Key) -> Iterator[BackupRecord]:
        """Yield a key of each shard that may have it."""
        shards = self._source.shards
        for keys in [shards.directory] if kind.place is Place.FIRST else shards.all:
            name = keys.prefix + kind.of()
            if kind.type == "list":
                yield from self._reader.iterate_list(name, kind)
            else:
                yield from self._reader.iterate_keys([(name, kind)])

    def carry_outside(self) -> None:
        """Carry the keys outside the shards that have changed since they were last carried; the first time, all.

        Reads the names of all keys; the first time, of both stores.
        """
        here = set(_names_outside(self._source))
        there = set(_names_outside(self._target)) if self._outside is None else self._outside.keys()
        self._unlink(sorted(there - here))
        known = {name: carried for name, carried in (self._outside or {}).items() if name in here}
        self._outside = known
        self._carry_salts()
        for batch in portions(sorted(here), KEYS_PER_READ):
            named = [(name, kind) for name, kind in zip(batch, recognise(batch), strict=True) if kind is not None]
            found = {record.entries[0].name: record for record in self._reader.iterate_keys(named)}
            now = {name: _Carried.of(record) for name, record in found.items()}
            changed = [name for name in batch if name not in now or not now[name].is_still(known.get(name))]
            self._unlink(changed)
            self._restore().write_some([found[name] for name in changed if name in found])
            known |= now

    def _carry_salts(self) -> None:
        """Carry the salts of visitors' digests, which no backup has: no visitor is counted twice that day."""
        today = int(self._source.now() // _DAY)
        salts = [names.salt(day) for day in (today - 1, today, today + 1)]
        with self._source.pipeline() as pipe:
            for name in salts:
                pipe.get(name)
                pipe.pttl(name)
            replies = pipe.execute()
        with self._target.pipeline() as pipe:
            for name, salt, life in zip(salts, replies[::2], replies[1::2], strict=True):
                if salt is not None and life > 0:
                    pipe.set(name, salt, px=life)
            pipe.execute()

    def _unlink(self, keys: Iterable[str]) -> None:
        for batch in portions(keys, KEYS_PER_READ):
            with self._target.pipeline() as pipe:
                for key in batch:
                    pipe.unlink(key)
                pipe.execute()

    def _restore(self) -> StoreRestore:
        return StoreRestore(self._target, self._layout.site, self._layout)


def _names_outside(store: Store) -> Iterator[str]:
    """Yield the keys of those kinds outside the shards that have many keys."""
    for server in store.servers():
        for pattern in _PATTERNS:
            cursor = 0
            while True:
                with store.commands():
                    cursor, found = server.scan(cursor, match=pattern, count=_KEYS_PER_SCAN)
                yield from (name for name, kind in zip(found, recognise(found), strict=True) if kind in _OUTSIDE)
                if cursor == 0:
                    break
