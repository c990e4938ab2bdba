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
    shared, own = (folder.joinpath(f"{part}.lua").read_text("utf-8") for part in ("_shared", name))
    return f"-- {name}\n{shared}\n{own}"


@cache
def digest(name: str) -> str:
    """The name under which a store keeps the script."""
    return sha1(source(name).encode(), usedforsecurity=False).hexdigest()


@cache
def names() -> tuple[str, ...]:
    """All scripts."""
    folder = files("articles.repository") / "lua"
    found = (entry.name for entry in folder.iterdir())
    return tuple(sorted(name.removesuffix(".lua") for name in found if name.endswith(".lua") and name[0] != "_"))
