"""The tables of docs/data-model.md, written from the key table and the headers of the scripts."""

import re
from collections.abc import Iterator, Mapping

from articles.repository.store import scripts
from articles.repository.store.key_table import DAY, HOUR, MINUTE, TABLE, Key, Place

HEADINGS: Mapping[Place, str] = {
    Place.SHARD: "Keys in every shard",
    Place.FIRST: "Keys of the first shard only",
    Place.OUTSIDE: "Keys outside the shards",
}

_HEADER = (
    "| Key | Type | Content | Written by | Lives | Backup | Why |\n| --- | --- | --- | --- | --- | --- | --- |\n"
)
_UNITS = {DAY: "day", HOUR: "hour", MINUTE: "minute", 1: "second"}


def tables() -> dict[str, str]:
    """Return the table of each place, in Markdown, by the heading that it follows."""
    return {heading: _HEADER + "".join(_rows(place)) for place, heading in HEADINGS.items()}


def writers(key: Key) -> frozenset[str]:
    """Return the names of the scripts whose headers say that they write the key."""
    return frozenset(name for name in scripts.names() if scripts.touches(name).get(key.name) == "rw")


def _rows(place: Place) -> Iterator[str]:
    for key in TABLE:
        if key.place is place:
            life, backup = life_in_words(key.life), key.in_backup.value
            cells = (f"`{key.name}`", key.type, key.content, _writers(key), life, backup, key.purpose)
            yield f"| {' | '.join(cells)} |\n"


def _writers(key: Key) -> str:
    followed = [other for other in TABLE if other.name == key.follows]
    own = writers(key).difference(*map(writers, followed))
    parts = [key.writers] if key.writers else []
    parts += [" ".join(f"`{name}`" for name in sorted(own))] if own else []
    parts += [f"every writer of `{other.name}`" for other in followed]
    return "; ".join(parts)


def life_in_words(seconds: int | None) -> str:
    """Return a time to live in the largest unit that gives two or more, as in "9 days"."""
    if seconds is None:
        return "for good"
    size = next((size for size in _UNITS if seconds >= 2 * size), 1)
    return f"{seconds // size} {_UNITS[size]}s"


def page(text: str) -> str:
    """Return the page with its tables rewritten; the text around them stays."""
    for heading, table in tables().items():
        text = _replace_table(text, heading, table)
    return text


def _replace_table(text: str, heading: str, table: str) -> str:
    before = rf"^## {heading}\n(?:(?!^[|#]).*\n)*"
    return re.sub(rf"({before})(?:\|.*\n)+", lambda match: match[1] + table, text, flags=re.MULTILINE)
