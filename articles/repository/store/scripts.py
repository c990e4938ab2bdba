"""The Lua scripts, one file each in `lua/`, loaded once per process.

A file's header says its KEYS, ARGV, what it returns and what it costs.
"""

from functools import cache
from hashlib import sha1
from importlib.resources import files


@cache
def source(name: str) -> str:
    """A script's whole text: its name, by which a log of slow commands knows it, what all share, its own file."""
    folder = files("articles.repository") / "lua"
    shared, own = (folder.joinpath(f"{part}.lua").read_text("utf-8") for part in ("lib/_shared", name))
    return f"-- {name}\n{shared}\n{own}"


@cache
def digest(name: str) -> str:
    """The name under which a store keeps the script."""
    return sha1(source(name).encode(), usedforsecurity=False).hexdigest()


@cache
def names() -> tuple[str, ...]:
    """All scripts."""
    nouns = (files("articles.repository") / "lua").iterdir()
    found = ((noun.name, entry.name) for noun in nouns for entry in noun.iterdir() if noun.name != "lib")
    return tuple(sorted(f"{noun}/{entry.removesuffix('.lua')}" for noun, entry in found))
