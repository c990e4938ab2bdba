"""The tests' own helpers: what they may use, and that their failures explain themselves."""

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from articles.repository.store.keys import recognise

pytestmark = pytest.mark.source

ROOT = Path(__file__).parent
ABOUT_THE_STORE = ("repository", "archive", "chaos")  # folders whose tests are about what the store holds
SPELLS_KEYS = (*ABOUT_THE_STORE, "embedded", "topologies")
"""Folders whose tests name keys: the last two name those of a store that is not the site's."""

HELP_ALL = ("topologies",)  # folders of helpers that every folder may use: too many for the root


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def folder_of(path: Path) -> str:
    """Return the folder below tests/ that the module is in; "" for the root."""
    return path.relative_to(ROOT).parts[0] if path.parent != ROOT else ""


@cache
def imports_of(path: Path) -> tuple[str, ...]:
    """Return what the module imports, anywhere in it, by absolute names."""
    package, names = ["tests", *path.relative_to(ROOT).parts[:-1]], list[str]()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names += (f"{base}.{alias.name}" for alias in node.names)
    return tuple(names)


def strings_of(path: Path) -> Iterator[str]:
    """Yield the strings of the module; interpolated values are replaced by 1."""
    nodes = list(ast.walk(parsed(path)))
    within = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in within:
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "1" for part in node.values)


def uses_client(path: Path) -> bool:
    """Return whether the module reaches for the store's client."""
    return any(
        isinstance(node, ast.Attribute) and node.attr == "client" and "store" in ast.unparse(node.value)
        for node in ast.walk(parsed(path))
    )


MODULES = sorted(ROOT.rglob("*.py"))
OUTSIDE = [path for path in MODULES if folder_of(path) not in ("", *ABOUT_THE_STORE)]


IN_FOLDERS = [path for path in MODULES if folder_of(path)]


def offences(paths: Iterable[Path], look: Callable[[Path], list[str]]) -> dict[str, list[str]]:
    """Return what `look` finds in these modules, by module, without empty results."""
    found = {str(path.relative_to(ROOT)): look(path) for path in paths}
    return {path: names for path, names in found.items() if names}


def test_a_folder_uses_only_the_helpers_of_the_root_and_its_own():
    def foreign(path: Path) -> list[str]:
        parts = ((name, name.split(".")) for name in imports_of(path) if name.startswith("tests."))
        own = (folder_of(path), *HELP_ALL)
        return [name for name, (_, top, *_) in parts if (ROOT / top).is_dir() and top not in own]

    assert offences(IN_FOLDERS, foreign) == {}


def test_no_folder_imports_from_a_test_module():
    def tests(path: Path) -> list[str]:
        return [name for name in imports_of(path) if name.startswith("tests.") and ".test_" in name]

    assert offences(IN_FOLDERS, tests) == {}


def test_only_store_tests_and_root_helpers_use_internals_of_the_repository():
    def inside(path: Path) -> list[str]:
        names = [name for name in imports_of(path) if name.startswith("articles.repository.")]
        return [name for name in names if name.count(".") > 2 and ".finding." not in name]

    assert offences(OUTSIDE, inside) == {}


def test_only_store_tests_build_keys_and_use_the_client():
    def spelled(path: Path) -> list[str]:
        texts = list(strings_of(path))
        keys = [text for text, key in zip(texts, recognise(texts), strict=True) if key]
        return keys + ["store.client"] * uses_client(path)

    assert offences([path for path in IN_FOLDERS if folder_of(path) not in SPELLS_KEYS], spelled) == {}
