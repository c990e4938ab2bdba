"""The records of a backup, which depend neither on the server nor on the number of shards."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from articles.repository.store import key_table as table


class Entry(NamedTuple):
    """One key. `data` is JSON: text, a list, or an object; sketches and other bytes are in base64."""

    name: str
    """Name of the key without the shard's prefix."""

    data: Any
    expires_ms: int | None = None
    """When it expires, in Unix milliseconds by the clock of the site, not by that of the server."""


@dataclass(frozen=True, slots=True)
class BackupRecord:
    """Keys of one shard that were read in one atomic step. `shard` is None for keys outside the shards."""

    shard: int | None
    entries: tuple[Entry, ...]
    is_repeated: bool = False
    """The record replaces an earlier one of the same article or comment, which changed during the backup."""

    @property
    def is_article(self) -> bool:
        """Whether the record adds an article to the backup."""
        return not self.is_repeated and any(table.ARTICLE.values(entry.name) for entry in self.entries)

    def as_json(self) -> list[Any]:
        return [self.shard, int(self.is_repeated), [list(entry) for entry in self.entries]]

    @classmethod
    def from_json(cls, line: list[Any]) -> "BackupRecord":
        shard, is_repeated, entries = line
        return cls(shard, tuple(Entry(*entry) for entry in entries), is_repeated=bool(is_repeated))


@dataclass(frozen=True, slots=True)
class Layout:
    """The store that a backup was made of: its layout's version, its number of shards, its site."""

    version: int
    shards: int
    site: str
