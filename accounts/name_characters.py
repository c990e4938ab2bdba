"""Characters of names in any script: which are allowed, and what they look like.

Both follow Unicode's security mechanisms (UTS 39). `name_characters.txt` has its data, taken from ICU: the scripts
of letters, marks and digits whose Identifier_Status is Allowed, and the skeletons of their folded forms. It ends
with Unicode 14, which the oldest supported Python normalises, so that a name is the same on all of them. Other
data change which names look alike: a migration then writes the looks of all members again.
"""

import unicodedata
from bisect import bisect_right
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

_PATH = Path(__file__).with_name("name_characters.txt")

_COMBINED = tuple(
    frozenset(scripts.split()) for scripts in ("Latn Hani Hira Kana", "Latn Hani Bopo", "Latn Hani Hang")
)
"""Scripts that one name may mix: UTS 39 calls it highly restrictive."""

_INHERITED = frozenset({"Zinh"})
_OF_ANY_SCRIPT = _INHERITED | {"Zyyy"}
_WITH_ACCENTS = frozenset({"Latn", "Cyrl", "Grek"})

_MOST_MARKS = 4
"""Combining marks in a row, which Burmese needs. Those that fit several scripts follow a letter one at a time."""


class _Table(NamedTuple):
    """The data: ranges by first character, with the last one and the scripts, and looks by character."""

    first: list[int]
    last: list[int]
    scripts: list[frozenset[str]]
    looks: dict[int, str]


@cache
def _table() -> _Table:
    """Return the data. Read at first use: most sites never see such a name."""
    table = _Table([], [], [], {})
    for line in _PATH.read_text("utf-8").splitlines()[1:]:
        if ">" in line:
            table.looks[ord(line[0])] = line[2:]
        else:
            bounds, *scripts = line.split()
            first, last = (int(bound, 16) for bound in bounds.split("-"))
            table.first.append(first)
            table.last.append(last)
            table.scripts.append(frozenset(scripts))
    return table


def character_class() -> str:
    """Return the characters that names can have, for a class of `re`."""
    table = _table()
    return "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in zip(table.first, table.last, strict=True))


def _scripts_of(char: str) -> frozenset[str] | None:
    """Return the scripts that use a character; None if names cannot have it."""
    table = _table()
    place = bisect_right(table.first, ord(char)) - 1
    return table.scripts[place] if place >= 0 and ord(char) <= table.last[place] else None


def are_allowed(text: str) -> bool:
    """Return whether all are letters, digits, `_` or `-` of modern scripts, with marks as languages need them."""
    marks, letter = 0, frozenset[str]()
    for before, char in pairwise(" " + text):
        scripts = _scripts_of(char)
        if scripts is None:
            return False
        if unicodedata.category(char)[0] != "M":
            marks, letter = 0, scripts
            continue
        marks += 1
        fits = scripts & letter or (scripts == _INHERITED and letter & _WITH_ACCENTS)
        if (
            not fits
            or char == before
            or marks > (_MOST_MARKS if len(scripts) == 1 and scripts != _INHERITED else 1)
        ):
            return False
    return True


def is_one_script(text: str) -> bool:
    """Return whether all are of one script, or of several that languages mix, with digits of one kind."""
    found = [scripts for char in text if (scripts := _scripts_of(char)) and not scripts & _OF_ANY_SCRIPT]
    zeros = {ord(char) - unicodedata.decimal(char) for char in text if char.isdecimal()}
    mixes = any(all(scripts & combined for scripts in found) for combined in _COMBINED)
    return len(zeros) <= 1 and (mixes or not found or bool(frozenset.intersection(*found)))


def look_of(text: str) -> str:
    """Return what a text looks like, regardless of case: equal for `bob`, `B0B` and `ВОВ` in Cyrillic."""
    return _skeleton(_skeleton(text).casefold())


def _skeleton(text: str) -> str:
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).translate(_table().looks))
