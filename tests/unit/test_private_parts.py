"""What the site uses of its dependencies beyond their documented interface: any upgrade may change it."""

import ast
import pkgutil
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.source

ROOT = Path(__file__).parents[2]
PRODUCT = ("accounts", "articles", "links", "moderation", "outgoing", "voting_site")

DOCUMENTED = {
    "_meta", "_base_manager", "_default_manager", "_asdict", "_fields", "_make", "_replace", "_exit",
}  # fmt: skip
"""Names of Django and Python that are public in spite of their underscore."""

PRIVATE = {
    "granian": {
        "granian._futures:_cbsched_aioschedule",
        "granian._futures:_future_watcher_wrapper",
        "granian._granian:CallbackScheduler",
        "granian._granian:RSGIWorker",
        "granian._granian:SocketHolder",
        "granian.server.embed:Server._init_shared_socket",
        "granian.server.embed:Server._spawn_rsgi_worker",
        "granian.server.embed:AsyncWorker.wrap_target",
    },
    "psycopg": {"psycopg.errors:_WaitTimeout"},
    "redis": {"redis._parsers:_HiredisParser.read_from_socket", "redis.connection:Connection._connect"},
    "django": {
        "django.contrib.sessions.backends.db:SessionStore._get_session_from_db",
        "django.db.models:QuerySet._raw_delete",
    },
}
"""Private parts that the site uses, by dependency."""

WHERE = {
    "accounts/account_deletion.py": {"_raw_delete"},
    "accounts/remembered.py": {"_get_session_from_db"},
    "articles/repository/store/clients/guarded_connection.py": {"_HiredisParser", "_parser", "_parsers"},
    "voting_site/postgres/base.py": {"_WaitTimeout"},
    "voting_site/serving/workers/server.py": {
        "_cbsched_aioschedule", "_ctx", "_enter_task", "_future_watcher_wrapper", "_leave_task",
        "_futures", "_granian",
    },
}  # fmt: skip
"""The only module that uses each."""


def test_private_parts_of_dependencies_are_used_in_one_module_each():
    trees = {path: ast.parse(path.read_text("utf-8")) for name in PRODUCT for path in (ROOT / name).rglob("*.py")}
    ours = {name for tree in trees.values() for node in ast.walk(tree) for name in defined_by(node)} | DOCUMENTED
    found = {
        str(path.relative_to(ROOT)): {
            name for node in ast.walk(tree) for name in imported_by(node) | (read_by(node) - ours)
        }
        for path, tree in trees.items()
    }

    assert {path: names for path, names in found.items() if names} == WHERE


def defined_by(node: ast.AST) -> set[str]:
    """Return the names that a node of the product gives to something, to parts of objects as well."""
    match node:
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
            return {name}
        case ast.Name(name, ast.Store()) | ast.Attribute(_, name, ast.Store()):
            return {name}
    return set()


def read_by(node: ast.AST) -> set[str]:
    """Return the private attribute that a node reads."""
    match node:
        case ast.Attribute(_, name) | ast.Call(ast.Name("getattr"), [_, ast.Constant(str(name)), *_]):
            return private(name)
    return set()


def imported_by(node: ast.AST) -> set[str]:
    """Return the private modules and parts of modules that a node imports from outside the product."""
    match node:
        case ast.Import(aliases):
            return {name for alias in aliases for name in private(*alias.name.split("."))}
        case ast.ImportFrom(str(module), aliases, 0) if not module.startswith((*PRODUCT, "__")):
            return private(*module.split("."), *(alias.name for alias in aliases))
    return set()


def private(*names: str) -> set[str]:
    return {name for name in names if re.match("_[a-zA-Z]", name)}


@pytest.mark.parametrize("name", sorted(name for names in PRIVATE.values() for name in names))
def test_the_locked_versions_have_the_private_parts(name):
    assert pkgutil.resolve_name(name) is not None


@pytest.mark.parametrize("package", sorted(PRIVATE))
def test_a_dependency_whose_private_parts_are_used_is_bound_to_its_patches(package):
    (line,) = re.findall(rf"(?m)^{package}(?:\[\w+\])?(~=.+)$", (ROOT / "requirements.in").read_text("utf-8"))

    assert re.fullmatch(r"~=\d+\.\d+\.\d+", line)
