"""The records of a backup, which depend neither on the server nor on the number of shards."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import UnionType
from typing import Any, NamedTuple

from articles.repository.store.keys import Keys, recognise

REMADE = "html"
"""Field of articles and comments that no backup contains and no restore takes: the site makes it of the text."""


class Entry(NamedTuple):
    """One key. `data` is JSON: text, a list, or an object; sketches and other bytes are in base64."""

    name: str  # name of the key without the shard's prefix
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
        return not self.is_repeated and any(Keys.article.values(entry.name) for entry in self.entries)

    def as_json(self) -> list[Any]:
        return [self.shard, int(self.is_repeated), [list(entry) for entry in self.entries]]

    @classmethod
    def from_json(cls, line: Any) -> "BackupRecord":
        """Return the record of a line, whose values may be of any type. Raises ValueError."""
        match line:
            case [None | int() as shard, int() as is_repeated, [*entries]]:
                return cls(shard, tuple(map(_entry, entries)), is_repeated=bool(is_repeated))
        raise ValueError(f"this is not a record: {str(line)[:80]!r}")


_LATEST_MS = 1 << 53


def _entry(values: Any) -> Entry:
    match values:
        case [str() as name, data, None | int() as expires_ms] if abs(expires_ms or 0) < _LATEST_MS:
            (kind,) = recognise([name])
            if kind is None or _ARE_SOUND[kind.type](data):
                return Entry(name, data, expires_ms)
    raise ValueError(f"this is not a key of a store: {str(values)[:80]!r}")


def _are(kind: type | UnionType) -> Callable[[Iterable[Any]], bool]:
    return lambda values: all(isinstance(value, kind) for value in values)


_are_texts, _are_numbers = _are(str), _are(int | float)

_ARE_SOUND: dict[str, Callable[[Any], bool]] = {
    "hash": lambda data: isinstance(data, dict) and _are_texts(data.values()),
    "zset": lambda data: isinstance(data, dict) and _are_numbers(data.values()),
    "set": lambda data: isinstance(data, list) and _are_texts(data),
    "list": lambda data: isinstance(data, list) and _are_texts(data),
    "string": lambda data: isinstance(data, str),
}
"""By the type of a key, whether its data in a backup can be written."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The store that a backup was made of: its layout's version, its number of shards, its site."""

    version: int
    shards: int
    site: str
