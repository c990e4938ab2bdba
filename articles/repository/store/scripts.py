"""The Lua scripts, one file each in `lua/<noun>/<verb>.lua`, and the libraries in `lua/lib/`.

A script uses the names that libraries declare as if they were its own. Its header names its KEYS, its ARGV, what
it Returns and what it Costs, and the keys that it TOUCHES, including those whose names it builds from the shard
prefix (`r`: reads, `w`: writes).

A file in `lua/upkeep/` is two scripts: `audit/<what>` only reads and reports what is wrong; `repair/<what>`, in
which REPAIRS is true, repairs it as well. The audit does not touch the keys that the header lists as `w`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha1
from pathlib import Path
from typing import TypeAlias

from articles.domain import extras
from articles.domain.articles import LATEST
from articles.domain.comments import COMMENTS_PER_ARTICLE, QUANTILE
from articles.domain.lists import BY_VOTES, CHANGES_KEPT, MOST_PAGED, SPANS, Order
from articles.domain.members import PLACEHOLDERS
from articles.domain.notices import MOST_MENTIONED, NOTICES_KEPT, UNDO_SECONDS
from articles.domain.ranking import ONE_POINT, RANGES
from articles.repository.store.keys import BY_NAME, REPLIES, InBackup, Keys, Place

_TOUCHES = re.compile(r"^TOUCHES  (.*(?:\n {2,}.*)*)", re.MULTILINE)
_NO_CODE = re.compile(r"'[^'\n]*'|--\[\[.*?\]\]|--[^\n]*", re.DOTALL)
_DECLARATION = re.compile(r"^local .*\n(?:(?!local |--).*\n)*", re.MULTILINE)
_DECLARED = re.compile(r"^local (?:function )?([\w, ]+)")
_NAME = re.compile(r"(?<!\.)\b\w+\b(?! = )")  # no field, and nothing that gets a value

_UPKEEP = re.compile(r"^(audit|repair)/")
_Value: TypeAlias = float | str | Sequence[str] | Mapping[str, str]


def _lua(value: _Value) -> str:
    """Return a value as Lua writes it. Strings are names, without anything to escape."""
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name} = {_lua(one)}" for name, one in value.items()) + "}"
    if isinstance(value, Sequence):
        return "{" + ", ".join(map(_lua, value)) + "}"
    return str(value)


_RANKINGS = {
    "WHOLE": {order.value: Keys().order(order) for order in Order},
    "OF_GROUP": {order.value: Keys().group_order(order, "") for order in Order},
}
_SHARED: Mapping[str, _Value] = {
    "CHANGES_KEPT": CHANGES_KEPT,
    "COMMENTS_PER_ARTICLE": COMMENTS_PER_ARTICLE,
    "FIELDS_OF_EXTRAS": list(extras.article_fields()),
    "FIRST_PLACEHOLDER": PLACEHOLDERS[0],
    "LAST_PLACEHOLDER": PLACEHOLDERS[-1],
    "HOT_PARAMETERS": [name for name in RANGES if name != "votes_per_day"],
    "LATEST": LATEST,
    "MOST_MENTIONED": MOST_MENTIONED,
    "MOST_PAGED": MOST_PAGED,
    "NOTICES_KEPT": NOTICES_KEPT,
    "ONE_POINT": ONE_POINT,
    "QUANTILE": QUANTILE,
    "ORDERS": [order.value for order in Order],
    "REPAIRS": False,
    "REPLIES": {order: key.name.removesuffix("<comment>") for order, key in REPLIES.items()},
    "REPLY_ORDERS": [*REPLIES],
    "UNDO_SECONDS": UNDO_SECONDS,
    "SPANS": [period.value for period in SPANS],
    **_RANKINGS,
}
_FIELD = re.compile(rf"\b({'|'.join(_RANKINGS)})\.(\w+)")
CONSTANTS = {name: f"local {name} = {_lua(value)}\n" for name, value in _SHARED.items()}
"""What Python and Lua both know, as Lua. WHOLE and OF_GROUP hold the keys of the rankings by order, without shard
prefix and slug. A source begins with those that it names."""


_FAMILIES: Mapping[str, Sequence[str]] = {
    "<order>:": [Keys().order(order) for order in Order],
    "<order>:<slug>": [Keys().group_order(order, "<slug>") for order in Order],
    "replies:<order>:<comment>": [key.name for key in REPLIES.values()],
    "<votes>:": [Keys().order(order) for order in BY_VOTES],
    "<votes>:<slug>": [Keys().group_order(order, "<slug>") for order in BY_VOTES],
}
"""What headers name together: rankings in any order, and in the orders BY_VOTES."""


_GUARD = """do
  local shard = string.match(KEYS[1], '^{[^}]*}:')
  if shard then redis.call('EXISTS', shard) end
end
"""
"""Begins each script that changes the lasting data of a shard, by looking up a key that no shard has.

Where a cluster moves a shard to another node key by key, the node does not say that a key does not exist: so the
script fails here, before it has written anything."""


@cache
def text(name: str) -> str:
    """Return the content of a script's or a library's own file."""
    return _files()[file_of(name)].read_text("utf-8")


def file_of(name: str) -> str:
    """Return the path of a script's or a library's file in `lua/`, without its ending."""
    shared = _UPKEEP.sub("upkeep/", name)
    return shared if shared in _files() else name


@cache
def touches(name: str) -> dict[str, str]:
    """Return `r` or `rw` for each key that the header says the script touches, by its name in the key table."""
    header, _, _ = text(name).partition("]]")
    listed = _TOUCHES.search(header)
    named = [part.rpartition(" ") for part in re.split(r",\s*", listed[1].strip())] if listed else []
    accesses = {key: access for family, _, access in named for key in _FAMILIES.get(family, [family])}
    if file_of(name) == name:
        return accesses
    if name.startswith("audit/"):
        return {key: "r" for key, access in accesses.items() if "r" in access}
    return {key: "rw" if "w" in access else "r" for key, access in accesses.items()}


@cache
def is_guarded(name: str) -> bool:
    """Return whether a script changes the lasting data of a shard, which excludes rankings that a read makes."""
    written = [BY_NAME[key] for key, access in touches(name).items() if access == "rw"]
    kept = [key for key in written if key.place is not Place.OUTSIDE and key.in_backup is not InBackup.OMITTED]
    return bool(kept) and not (name.startswith("lists/read") and kept == [Keys.ranking])


@cache
def only_reads(name: str) -> bool:
    """Return whether a script writes no key: what it cannot find is no refused change."""
    return "rw" not in touches(name).values()


@cache
def changes_articles(name: str) -> bool:
    """Return whether a script writes articles or comments: what members post, choose and moderate."""
    return "rw" in (touches(name).get(Keys.article.name), touches(name).get(Keys.comment.name))


@cache
def _written_out(name: str) -> str:
    """Return the content of a script's or a library's file, with the values of fields of _RANKINGS."""
    return _FIELD.sub(lambda field: _lua(_RANKINGS[field[1]][field[2]]), text(name))


def _names_in(code: str) -> frozenset[str]:
    return frozenset(_NAME.findall(_NO_CODE.sub("", code)))


@cache
def _declarations() -> Mapping[str, tuple[str, frozenset[str]]]:
    """Return the declarations of all libraries by name: the code of each, and the other names in it."""
    found = dict[str, tuple[str, frozenset[str]]]()
    for library in (name for name in _files() if name.startswith("lib/")):
        for code in _DECLARATION.findall(_written_out(library)):
            names = _names_in(_DECLARED.findall(code)[0])
            found |= dict.fromkeys(names, (code, _names_in(code) - names))
    return found


def _add_needed(code: str, names: Iterable[str], needed: dict[str, None]) -> None:
    """Add a declaration, or a script, to what is needed already, after the declarations that its names need."""
    for name in sorted(names):
        if (found := _declarations().get(name)) and found[0] not in needed:
            _add_needed(*found, needed)
    needed[code] = None


@cache
def source(name: str) -> str:
    """Return a script's whole text. The first line is its name, by which the slow log identifies it.

    It has the declarations of libraries that it needs, directly or not: each call makes all that are there.
    """
    own, needed = _written_out(name), dict[str, None]()
    _add_needed(own, _names_in(own), needed)
    code = "".join(needed)
    used = _names_in(code)
    constants = "".join(line for constant, line in CONSTANTS.items() if constant in used)
    if name.startswith("repair/"):
        constants = constants.replace("REPAIRS = false", "REPAIRS = true")
    return "".join([f"-- {name}\n", _GUARD if is_guarded(name) else "", constants, code])


@cache
def digest(name: str) -> str:
    """Return the name under which a store caches the script."""
    return sha1(source(name).encode(), usedforsecurity=False).hexdigest()


def script_digests() -> list[str]:
    """Return the names under which a store caches the scripts."""
    return list(map(digest, names()))


@cache
def _files() -> Mapping[str, Path]:
    """Return the script files of the core and of extras, by name. Raises BadExtra for a duplicate name."""
    found: dict[str, Path] = {}
    for folder in (Path(__file__).parents[1] / "lua", *extras.script_folders()):
        for path in sorted(folder.glob("*/*.lua")):
            name = f"{path.parent.name}/{path.stem}"
            if name in found:
                raise extras.BadExtra(f"{found[name]} and {path} have one name.")
            found[name] = path
    return dict(sorted(found.items()))


@cache
def names() -> tuple[str, ...]:
    """Return the names of all scripts."""
    found = set[str]()
    for name in _files():
        if name.startswith("upkeep/"):
            found |= {name.replace("upkeep", "audit"), name.replace("upkeep", "repair")}
        elif not name.startswith("lib/"):
            found.add(name)
    return tuple(sorted(found))
