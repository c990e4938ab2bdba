"""Checks that everything in the store can be read: each key has its type, and its entries have their form.

The repair drops what cannot be read from lists that it rebuilds, and names the rest.
"""

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any, NamedTuple

import redis
from redis.client import NEVER_DECODE

from articles.domain.articles import ArticleId
from articles.domain.errors import StoreDamaged
from articles.repository.store import key_table as table
from articles.repository.store.attempts import Finding
from articles.repository.store.batches import ENTRIES_PER_READ, KEYS_PER_SCAN, read_ahead
from articles.repository.store.connection import Store
from articles.repository.store.key_table import Key, split_prefix
from articles.repository.store.keys import RANKINGS, RANKINGS_OF_GROUPS, Keys
from articles.repository.store.scan import Named, portions, rankings_of_articles, walk_kinds
from articles.repository.store.values import NO_ARTICLE, article_id_from

_KEYS_AT_ONCE = 200
"""Keys whose first entries come in one reply."""

_TEXT_AT_ONCE = 1_000_000
"""Bytes of articles that one script returns, unless the last of them is longer."""

_LONGEST_EXCERPT = 60

Known = tuple[str, Key]
Read = Callable[[str, Sequence[Any]], object]
"""Receives entries of a key as the server sent them: members of a set, (member, score) of a sorted set."""

Form = Callable[[Sequence[bytes]], object]
"""Returns something false, or raises ValueError, if one of the values is damaged."""


def _like(pattern: str) -> Form:
    """Return the form of values that match the pattern, which matches no line break: all in one match."""
    lines = re.compile(rf"(?:(?:{pattern})\n)*+".encode())

    def are_alike(values: Sequence[bytes]) -> bool:
        text = b"\n".join((*values, b""))
        return text.count(b"\n") == len(values) and bool(lines.fullmatch(text))

    return are_alike


def _are_texts(values: Sequence[bytes]) -> bool:
    b"\n".join(values).decode()
    return True


def _are_records(values: Sequence[bytes]) -> bool:
    return all(isinstance(json.loads(value.decode()), dict) for value in values)


_ID = _like("-?[1-9][0-9]{0,15}")
_COMMENT_ID = _like("[1-9][0-9]{6,21}")
_COUNT = _like("[0-9]{1,15}")
_NUMBER = _like(r"-?[0-9]{1,15}(?:\.[0-9]+)?(?:e[-+]?[0-9]{1,2})?")

_LISTS_OF_COMMENTS = (
    *(table.COMMENT_VOTERS, *table.REPLIES.values(), table.COMMENTED),
    *(table.FLAGGED, table.FLAGS_BY),
)

_FORMS: dict[Key, Form] = {
    table.CHANGES: _like("c?[1-9][0-9]{0,21}"),
    table.LOG: _are_records,
    table.TUNINGS: _are_records,
    table.TICK: _are_records,
    table.MEASUREMENTS: _are_records,
    **dict.fromkeys((*_LISTS_OF_COMMENTS, table.COMMENT_SENT), _COMMENT_ID),
    table.INBOX: _like("[a-z-]{1,30}:[1-9][0-9]{6,21}"),
    table.LEFT_OUT_ACTS: _like("[1-9][0-9]{0,8} (?:open|done)"),
    table.SUSPECTS: _COUNT,
    table.DAYS: _COUNT,
    table.SITE_DAYS: _COUNT,
    table.HISTORY: _like(r"[0-9]{1,11}(?:\.[0-9]+)? (?:[0-9]+|-) -?[0-9]+ (?:[0-9]+|-)"),
    table.COUNTER: _COUNT,
    table.ACCOUNTS: _COUNT,
    table.PAGEVIEWS: _COUNT,
    table.LINK: _COUNT,
    table.BURST: _COUNT,
    table.BURST_ON_ARTICLE: _COUNT,
    table.SEEN: _NUMBER,
    table.SHIFT: _NUMBER,
}
"""Forms of values, where any text would not do. Articles, comments and parameters have checks of their own."""

READ_BY_THE_AUDIT = frozenset((table.ARTICLE, table.GROUP))
"""Kinds with so much content that reading it twice would slow the audit. It reads those that are doubtful."""

_SKETCHES = (table.VISITORS, table.VISITORS_OF_DAY)

_READ: dict[str, Callable[[str], tuple[object, ...]]] = {
    "string": lambda name: ("GET", name),
    "set": lambda name: ("SSCAN", name, 0, "COUNT", KEYS_PER_SCAN),
    "zset": lambda name: ("ZSCAN", name, 0, "COUNT", KEYS_PER_SCAN),
    "hash": lambda name: ("HSCAN", name, 0, "COUNT", KEYS_PER_SCAN),
    "list": lambda name: ("LRANGE", name, 0, ENTRIES_PER_READ - 1),
}


class Damage(NamedTuple):
    """Something unreadable in a key. `entry`: the member, field or value; None if the key is of another type."""

    name: str
    kind: Key
    problem: str
    entry: bytes | None = None


def check_readable(store: Store, keys: Iterable[Named]) -> Iterator[Finding]:
    """Yield each of these keys that cannot be read or has an unreadable entry, once. In batches.

    Leaves out those without a kind.
    """
    return _findings(_list_damages(store, keys))


def _findings(damages: Iterable[Damage]) -> Iterator[Finding]:
    """Yield the first damage of each key; those of a key follow each other."""
    for name, of_key in groupby(damages, key=lambda damage: damage.name):
        yield Finding(name, next(of_key).problem)


def _list_damages(
    store: Store, keys: Iterable[Named], read: Read = lambda _name, _entries: None
) -> Iterator[Damage]:
    """Yield all that cannot be read, key by key, in batches.

    `read` receives the entries of keys, but not those of sound articles, in parts.
    """
    for batch in portions(((name, kind) for name, kind in keys if kind), _KEYS_AT_ONCE):
        sound = _sound_articles(store, [name for name, kind in batch if kind is table.ARTICLE])
        yield from _check(store, [(name, kind) for name, kind in batch if name not in sound], read)


def _sound_articles(store: Store, names: Iterable[str]) -> set[str]:
    """Return those of these articles that are hashes of texts, as a single text of each batch shows.

    Most keys of a store are articles, and reading each by itself would take several times as long. One round trip
    for each shard and megabyte.
    """
    sound, shards = set[str](), defaultdict[str, list[str]](list)
    for name in names:
        shards[split_prefix(name)[0]].append(name)
    for waiting in shards.values():
        with suppress(UnicodeDecodeError, StoreDamaged):
            while waiting:
                done, _ = store.run("audit/read_hashes", waiting, [_TEXT_AT_ONCE])
                sound.update(waiting[:done])
                del waiting[:done]
    return sound


def _check(store: Store, batch: Sequence[Known], read: Read) -> Iterator[Damage]:
    with store.pipeline() as pipe:
        for name, kind in batch:
            command = ("PFCOUNT", name) if kind in _SKETCHES else _READ[kind.type](name)
            pipe.execute_command(*command, **{NEVER_DECODE: True})  # type: ignore[no-untyped-call]
        replies = pipe.execute(raise_on_error=False)
    for (name, kind), reply in zip(batch, replies, strict=True):
        if isinstance(reply, redis.ResponseError):
            yield Damage(name, kind, _mistyped(store, name, kind))
        elif isinstance(reply, Exception):
            raise reply
        elif reply is not None and kind not in _SKETCHES:
            for part in _parts(store, name, kind, reply):
                read(name, part)
                for entry, problem in _damaged(kind, part):
                    yield Damage(name, kind, problem, entry)


def _mistyped(store: Store, name: str, kind: Key) -> str:
    with store.commands() as client:
        current = client.type(name)
    return "is damaged" if current == kind.type else f"is a {current}, but should be a {kind.type}"


def _parts(store: Store, name: str, kind: Key, reply: Any) -> Iterator[list[Any]]:
    """Yield the entries of a key of any size, in parts; `reply` is the first part."""
    if kind.type == "string":
        yield [reply]
    elif kind.type == "list":
        done = 0
        while reply:
            yield reply
            done += ENTRIES_PER_READ
            reply = _more(store, "LRANGE", name, done, done + ENTRIES_PER_READ - 1)
    else:
        cursor, part = reply
        yield list(part.items() if isinstance(part, dict) else part)
        while int(cursor):
            scan, _, *options = _READ[kind.type](name)
            cursor, part = _more(store, scan, name, int(cursor), *options[1:])
            yield list(part.items() if isinstance(part, dict) else part)


def _more(store: Store, *command: object) -> Any:
    with store.commands() as client:
        return client.execute_command(*command, **{NEVER_DECODE: True})


def _damaged(kind: Key, entries: Sequence[Any]) -> Iterator[tuple[bytes, str]]:
    """Yield each damaged entry among some entries of a key, with the problem."""
    if not entries or _are_sound(kind, entries):
        return
    for entry in entries:
        if not _are_sound(kind, [entry]):
            yield _problem(kind, entry)


def _are_sound(kind: Key, entries: Sequence[Any]) -> bool:
    form = _FORMS.get(kind, _ID if kind.type in ("set", "zset") else _are_texts)
    try:
        match kind.type:
            case "hash":
                names, values = zip(*entries, strict=True)
                return bool(_are_texts(names) and form(values))
            case "zset":
                names, scores = zip(*entries, strict=True)
                return bool(form(names)) and all(map(math.isfinite, scores))
            case _:
                return bool(form(entries))
    except (ValueError, RecursionError):
        return False


def _problem(kind: Key, entry: Any) -> tuple[bytes, str]:
    match kind.type:
        case "hash":
            return entry[0], f"holds a field that cannot be read: {_excerpt(entry[0])}"
        case "zset":
            return entry[0], f"holds what cannot be read: {_excerpt(entry[0])} at {entry[1]:g}"
        case _:
            return entry, f"holds what cannot be read: {_excerpt(entry)}"


def _excerpt(value: bytes) -> str:
    return repr(value[:_LONGEST_EXCERPT].decode(errors="backslashreplace"))


class Entries:
    """What keys hold: what cannot be read of it, and the ids in rankings of articles."""

    def __init__(self, store: Store, leaves_out: Container[Key] = ()) -> None:
        """`leaves_out`: kinds of keys that are not read."""
        self._store = store
        self._leaves_out = leaves_out
        self.damages: list[Damage] = []
        shards = store.shards.all
        self._ids = {name: set[ArticleId]() for keys in shards for name in rankings_of_articles(keys)}

    def read(self) -> Iterator[list[Named]]:
        """Yield all keys in batches, after their entries are read."""
        for batch, damages in read_ahead(self._read_batch, walk_kinds(self._store)):
            self.damages += damages
            yield batch

    @property
    def unreadable(self) -> list[Finding]:
        """A finding for each key that cannot be read or has an unreadable entry."""
        return list(_findings(self.damages))

    def ids_in(self, keys: Keys) -> set[ArticleId]:
        """Return the ids in the rankings of a shard, once all keys are read."""
        return set().union(*(self._ids[name] for name in rankings_of_articles(keys))) - {NO_ARTICLE}

    def _read_batch(self, batch: list[Named]) -> tuple[list[Named], list[Damage]]:
        wanted = ((name, kind) for name, kind in batch if kind not in self._leaves_out)
        return batch, list(_list_damages(self._store, wanted, self._note))

    def _note(self, name: str, entries: Sequence[Any]) -> None:
        if (ids := self._ids.get(name)) is not None:
            ids.update(article_id_from(member) for member, _ in entries)


_REBUILT = (
    *(*RANKINGS.values(), *RANKINGS_OF_GROUPS.values(), table.TOP, table.REMOVED, table.GROUP, table.CHANGES),
    *(table.RINGS, table.NEXT_SCORE, table.MERGING),
    *(table.COMMENT_VOTERS, *table.REPLIES.values(), table.COMMENTED),
    *(table.FLAGGED, table.FLAGS_BY, table.INBOX, table.LEFT_OUT, table.LEFT_OUT_ACTS),
    table.PROBATION,
    table.VISITS,
)
"""Kinds of keys whose unreadable entries may be dropped. The repair, or the next read, makes most of them from the
articles and comments alone; visits begin again; an unreadable notice is useless in an inbox; and the members left
out of ranking and their acts are made from each other, and from those of other shards."""


def drop_unreadable(store: Store, damages: Iterable[Damage], tell: Callable[[Finding], object]) -> None:
    """Drop unreadable entries, and keys of another type, where they are rebuilt; report each elsewhere, once."""
    reported = set[str]()
    for damage in damages:
        if damage.kind in _REBUILT:
            _drop(store, damage)
        elif damage.name not in reported:
            reported.add(damage.name)
            tell(Finding(damage.name, damage.problem))


def _drop(store: Store, damage: Damage) -> None:
    with store.commands() as client:
        if damage.entry is None:
            client.unlink(damage.name)
        elif damage.kind.type == "set":
            client.srem(damage.name, damage.entry)
        elif damage.kind.type == "hash":
            client.hdel(damage.name, damage.entry)
        else:
            client.zrem(damage.name, damage.entry)
