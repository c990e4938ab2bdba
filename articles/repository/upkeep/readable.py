"""Checks that everything in the store can be read: each key has its type, and its entries have their form."""

import json
import math
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import redis
from redis.client import NEVER_DECODE

from articles.repository.search.index import Finding
from articles.repository.store import key_table as table
from articles.repository.store.batches import ENTRIES_PER_READ, KEYS_PER_SCAN
from articles.repository.store.connection import Store
from articles.repository.store.key_table import Key
from articles.repository.store.scan import portions, walk_kinds

_KEYS_AT_ONCE = 200
"""Keys whose first entries come in one reply."""

_LONGEST_EXCERPT = 60

Named = tuple[str, Key]
Form = Callable[[bytes], object]
"""Returns something false, or raises ValueError, for a value that is damaged."""


def _like(pattern: str) -> Form:
    return re.compile(pattern.encode()).fullmatch


def _is_text(value: bytes) -> bool:
    value.decode()
    return True


def _is_record(value: bytes) -> bool:
    return isinstance(json.loads(value.decode()), dict)


_ID = _like("-?[1-9][0-9]{0,15}")
_COUNT = _like("[0-9]{1,15}")
_NUMBER = _like(r"-?[0-9]{1,15}(?:\.[0-9]+)?(?:e[-+]?[0-9]{1,2})?")

_FORMS: dict[Key, Form] = {
    table.LEXICON: _is_text,
    table.LOG: _is_record,
    table.TUNINGS: _is_record,
    table.TICK: _is_record,
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
"""Forms of values, where any text would not do. Fields of articles and parameters have checks of their own."""

_READ_BY_THE_AUDIT = frozenset((table.ARTICLE,))
"""Kinds with so much content that reading it twice would slow the audit."""

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


def check_readable(store: Store) -> Iterator[Finding]:
    """Yield each key that cannot be read or has an unreadable entry, once. In batches.

    Leaves out the keys whose entries the audit reads for itself.
    """
    for name, damages in groupby(list_damages(store, besides=_READ_BY_THE_AUDIT), key=lambda damage: damage.name):
        yield Finding(name, next(damages).problem)


def list_damages(store: Store, besides: Container[Key] = ()) -> Iterator[Damage]:
    """Yield all that cannot be read, key by key, in batches; leave out the kinds `besides`."""
    for keys in walk_kinds(store):
        named = ((name, kind) for name, kind in keys if kind and kind not in besides)
        for batch in portions(named, _KEYS_AT_ONCE):
            yield from _check(store, batch)


def _check(store: Store, batch: Sequence[Named]) -> Iterator[Damage]:
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
            for entry, problem in _damaged(kind, _entries(store, name, kind, reply)):
                yield Damage(name, kind, problem, entry)


def _mistyped(store: Store, name: str, kind: Key) -> str:
    with store.commands() as client:
        current = client.type(name)
    return "is damaged" if current == kind.type else f"is a {current}, but should be a {kind.type}"


def _entries(store: Store, name: str, kind: Key, reply: Any) -> Iterator[Any]:
    """Yield the entries of a key of any size, of which `reply` is the first part."""
    if kind.type == "string":
        yield reply
    elif kind.type == "list":
        done = 0
        while reply:
            yield from reply
            done += ENTRIES_PER_READ
            reply = _more(store, "LRANGE", name, done, done + ENTRIES_PER_READ - 1)
    else:
        cursor, part = reply
        yield from part.items() if isinstance(part, dict) else part
        while int(cursor):
            scan, _, *options = _READ[kind.type](name)
            cursor, part = _more(store, scan, name, int(cursor), *options[1:])
            yield from part.items() if isinstance(part, dict) else part


def _more(store: Store, *command: object) -> Any:
    with store.commands() as client:
        return client.execute_command(*command, **{NEVER_DECODE: True})


def _damaged(kind: Key, entries: Iterable[Any]) -> Iterator[tuple[bytes, str]]:
    """Yield what is damaged among the entries of a key, with the problem."""
    form = _FORMS.get(kind, _ID if kind.type in ("set", "zset") else _is_text)
    for entry in entries:
        match kind.type:
            case "hash":
                name, value = entry
                is_sound = _has_form(_is_text, name) and _has_form(form, value)
                problem = f"holds a field that cannot be read: {_excerpt(name)}"
            case "zset":
                name, score = entry
                is_sound = _has_form(form, name) and math.isfinite(score)
                problem = f"holds what cannot be read: {_excerpt(name)} at {score:g}"
            case _:
                name, is_sound = entry, _has_form(form, entry)
                problem = f"holds what cannot be read: {_excerpt(entry)}"
        if not is_sound:
            yield name, problem


def _has_form(form: Form, value: bytes) -> bool:
    try:
        return bool(form(value))
    except (ValueError, RecursionError):
        return False


def _excerpt(value: bytes) -> str:
    return repr(value[:_LONGEST_EXCERPT].decode(errors="backslashreplace"))
