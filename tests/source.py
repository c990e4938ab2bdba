"""The product's modules, read as source."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PRODUCT = sorted({path.parent.name for path in ROOT.glob("*/__init__.py")} - {"bench", "tests"})
"""The packages that run the site; what needs such a list takes it from the folders."""

PACKAGES = (*PRODUCT, "bench")


def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    """Return every module of the project by its dotted name."""
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    paths = [path for path in paths if "tests" not in path.parts]
    return {name_of(path): path for path in [*paths, ROOT / "manage.py"]}


def run_at_import(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Return the statements that run when the module is imported, except those only for type checkers."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            continue
        yield statement
        for part in ("body", "orelse", "finalbody", "handlers"):
            yield from run_at_import(getattr(statement, part, []))


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)
