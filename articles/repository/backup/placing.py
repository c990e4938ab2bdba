"""Places the keys of a backup into the shards of another store, which may have more shards or fewer."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from articles.domain.articles import ArticleId
from articles.repository.backup.reading import article_of_entry
from articles.repository.backup.records import REMADE, BackupRecord, Entry
from articles.repository.ranking.parameters import NEXT
from articles.repository.store import key_table as table
from articles.repository.store.key_table import InBackup, Key, Owner, Place
from articles.repository.store.keys import Keys, Shards

_HIGHEST, _LOWEST = ("clock", "longest_window"), ("voters_dropped",)
"""Fields of `ranking:` in which shards differ; for each, the highest or the lowest value is right."""

_TRANSIENT = ("clock_start", "clock_uptime", "sampled_at", "since_day", "since_week", "since_month")

_OF_A_MOVE = ("moved_to", "moved_from", "move")
"""Fields of the stamp about the store that was backed up, not about the restored one."""


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

    before: int
    """Shards of the store that the backup was made of."""

    shards: Shards
    _parameters: dict[str, str] = field(default_factory=dict)
    _bounds: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    _log: dict[Keys, list[tuple[float, str]]] = field(default_factory=lambda: defaultdict(list))

    def place(self, record: BackupRecord) -> Iterator[Placed]:
        """Yield the keys of a record, except those that `place_rest` yields at the end. Raises ValueError."""
        if record.shard is not None and not 0 <= record.shard < self.before:
            raise ValueError(f"there is no shard {record.shard}")
        for entry in record.entries:
            (kind,) = table.recognise([entry.name])
            if kind is None or kind.in_backup is not InBackup.COPIED:
                continue
            if kind is table.RANKING:
                self._note_parameters(entry.data, record.shard or 0)
            elif kind is table.SCHEMA:
                stamp = {name: value for name, value in entry.data.items() if name not in _OF_A_MOVE}
                yield Placed(entry.name, kind, stamp)
            elif kind is table.LOG and self.before != self.shards.count:
                self._note_log(entry.data)
            elif kind is table.LOG:
                yield Placed(self.shards.all[record.shard or 0].log, kind, entry.data)
            else:
                yield from self._place(kind, entry, record.shard or 0)

    def place_rest(self) -> Iterator[Placed]:
        """Yield what depends on all records: the logs and the parameters of all shards."""
        for keys, oldest_first in self._log.items():
            oldest_first.sort(key=lambda dated: dated[0])
            yield Placed(keys.log, table.LOG, [text for _, text in reversed(oldest_first)])
        bounds = {name: max(self._bounds[name], key=float) for name in _HIGHEST if self._bounds[name]}
        bounds |= {
            name: min(values, key=float)
            for name in _LOWEST
            if len(values := self._bounds[name]) == self.before  # a shard without it has dropped no voters
        }
        if self._parameters:
            for keys in self.shards.all:
                yield Placed(keys.ranking, table.RANKING, self._parameters | bounds)

    def _place(self, kind: Key, entry: Entry, shard: int) -> Iterator[Placed]:
        name, data, expires = entry
        if kind in (table.ARTICLE, table.COMMENT):
            data = {field: value for field, value in data.items() if field != REMADE}
        if kind.place is Place.OUTSIDE:
            yield Placed(name, kind, data, expires)
        elif kind.place is Place.FIRST:
            yield Placed(self.shards.directory.prefix + name, kind, data, expires)
        elif kind.owner is Owner.ARTICLE:
            yield Placed(self.shards.of(int(kind.values(name)[0])).prefix + name, kind, data, expires)
        elif kind.owner is Owner.COMMENT:
            yield Placed(self.shards.of_comment(int(kind.values(name)[0])).prefix + name, kind, data, expires)
        elif kind is table.DELETED_MEMBERS or (kind in (table.LEFT_OUT, table.LEFT_OUT_ACTS) and not shard):
            for keys in self.shards.all:
                yield Placed(keys.prefix + name, kind, data, expires)
        elif kind in (table.LEFT_OUT, table.LEFT_OUT_ACTS):
            return  # the first shard decides: acts begin there
        elif kind is table.VIEWED or kind.owner is Owner.MEMBER:
            split = self._split_comments if kind in (table.FLAGS_BY, table.INBOX) else self._split
            for keys, part in split(data).items():
                yield Placed(keys.prefix + name, kind, part, expires)
        else:  # figures of the site, which are added up over all shards
            keys = self.shards.all[shard if self.before == self.shards.count else 0]
            yield Placed(keys.prefix + name, kind, data, expires)

    def _split(self, ranking: Mapping[str, float]) -> dict[Keys, dict[str, float]]:
        """Split a sorted set of articles by shard."""
        parts: dict[Keys, dict[str, float]] = defaultdict(dict)
        for member, score in ranking.items():
            if member.isdigit():
                parts[self.shards.of(int(member))][member] = score
        return parts

    def _split_comments(self, ranking: Mapping[str, float]) -> dict[Keys, dict[str, float]]:
        """Split a sorted set of comments, or of notices about comments, by shard."""
        parts: dict[Keys, dict[str, float]] = defaultdict(dict)
        for member, score in ranking.items():
            comment = member.rpartition(":")[2]
            if comment.isdigit():
                parts[self.shards.of_comment(int(comment))][member] = score
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
            self._log[keys].append((_time_of(text), text))


def _time_of(text: str) -> float:
    """Return when an entry of the log was written, in Unix seconds; 0 for a damaged one."""
    try:
        return float(json.loads(text)["at"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return 0.0
