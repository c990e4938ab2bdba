"""Read the Lua scripts as text: their headers, the names they declare and use, the keys they spell."""

import re
from functools import cache
from pathlib import Path

from articles.domain import extras
from articles.domain.lists import Order
from articles.repository.store import scripts
from articles.repository.store.keys import REPLIES, Keys

FOLDERS = (Path(scripts.__file__).parents[1] / "lua", *extras.script_folders())
FILES = sorted(path for folder in FOLDERS for path in folder.glob("*/*.lua"))

LIBRARIES = tuple(sorted(f"lib/{path.stem}" for path in FILES if path.parent.name == "lib"))

KEYWORDS = frozenset(
    (
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "if", "in", "local", "nil",
        "not", "or", "repeat", "return", "then", "true", "until", "while",
    )
)  # fmt: skip
BUILT_IN = frozenset(
    (
        "KEYS", "ARGV", "redis", "cjson", "math", "string", "table",
        "error", "ipairs", "pairs", "pcall", "tonumber", "tostring", "type", "unpack",
    )
)  # fmt: skip

_TOKEN = re.compile(r"'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|[\d.]+(?:e-?\d+)?|\.\.\.?|[=~<>]=|\S")
_WORDS = re.compile(r"[A-Za-z_]\w*")


@cache
def header_of(name: str) -> str:
    return scripts.text(name).partition("--[[\n")[2].partition("]]")[0]


@cache
def body_of(name: str) -> str:
    """Return the code after the header, without comments."""
    return re.sub(r"('(?:\\.|[^'\\\n])*')|--[^\n]*", r"\1", scripts.text(name).partition("]]\n")[2])


def section_of(name: str, section: str) -> str:
    """Return a section of the header as one line, empty if it is missing."""
    found = re.search(rf"^{section}  (.*(?:\n {{2,}}.*)*)", header_of(name), re.MULTILINE)
    return re.sub(r"\s+", " ", found[1]) if found else ""


@cache
def declared(name: str) -> frozenset[str]:
    """Return the names that the file declares: locals, functions, parameters, loop variables."""
    lists = re.findall(
        r"\blocal (?!function\b)([\w, \n]+?)\s*(?:=|$)|\bfunction\b[ \w]*\(([^)]*)\)|\bfor ([\w, ]+?)(?: in\b| =)",
        body_of(name),
        re.MULTILINE,
    )
    functions = re.findall(r"\blocal function (\w+)", body_of(name))
    return frozenset(functions) | {word for found in lists for word in _WORDS.findall(",".join(found))}


@cache
def exported(library: str) -> frozenset[str]:
    """Return the names that a library declares at its top level."""
    return frozenset(re.findall(r"(?m)^local (?:function )?(\w+)", body_of(library)))


@cache
def used(name: str) -> frozenset[str]:
    """Return the names that the file uses but does not declare, without fields and keys of table constructors."""
    tokens = ["", *_TOKEN.findall(body_of(name)), ""]
    words = (
        token
        for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False)
        if _WORDS.fullmatch(token) and before != "." and not (after == "=" and before in "{,")
    )
    return frozenset(words) - KEYWORDS - declared(name)


@cache
def reachable(name: str) -> str:
    """Return the code of a script and of every library function that it calls, directly or indirectly."""
    functions = {
        found[1]: found[0]
        for library in LIBRARIES
        for found in re.finditer(r"(?ms)^local function (\w+).*?^end$", body_of(library))
    }
    parts, wanted, seen = [body_of(name)], [body_of(name)], set[str]()
    while wanted:
        words = _WORDS.findall(re.sub(r"'[^']*'|\.\w+|\w+ = ", "", wanted.pop()))
        for word in (functions.keys() & words) - seen:
            seen.add(word)
            parts.append(functions[word])
            wanted.append(functions[word])
    return "\n".join(parts)


@cache
def spelled(name: str) -> frozenset[str]:
    """Return the keys that the script or its libraries build, such as `time:` and `time:<`; `<` is a variable."""
    code = reachable(name)
    of_all, of_group = Keys().order, Keys().group_order
    literals = re.findall(r"'((?:[a-z]+:)+|next:score)'( \.\. (?!'))?(\w+ \.\. ':')?", code)
    keys = {beginning + "<" * bool(follows) + ":<" * bool(more) for beginning, follows, more in literals}
    ranked = re.findall(r"\brank_by\(prefix, '(\w+)'", code)
    whole, groups = set(re.findall(r"WHOLE\.(\w+)", code)), set(re.findall(r"OF_GROUP\.(\w+)", code))
    outside = re.sub(r"(?ms)^local function rank_by\(.*?^end$", "", code)
    for order in Order:
        if order.value in {*whole, *ranked} or "WHOLE[" in outside:
            keys.add(of_all(order))
        if order.value in {*groups, *ranked} or "OF_GROUP[" in outside:
            keys.add(of_group(order, "<"))
    if "REPLIES[" in code:
        keys |= {f"{key.name.removesuffix('<comment>')}<" for key in REPLIES.values()}
    if ".set .." in code:
        keys |= {"voted:<", "oppose:<"}
    if ".list .." in code:
        keys |= {"votes:<", "opposes:<"}
    return frozenset(keys)
