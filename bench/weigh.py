"""Weigh the code: how much there is, in how many pieces, and how much of it a request passes.

    python -m bench.weigh

Lines are a thermometer, not a goal. What the rows mean:

- The product is `manage.py` and every package except `bench` and `tests`, with their scripts, without migrations.
- Counted are modules of at most 25 lines, and those that define one function and nothing else. Entry points do not
  count: commands, `manage.py`, and the `__init__.py` and `__main__.py` of packages.
- An import in `articles/repository/` is upward by the floors of `tests/test_floors.py`.
- A request runs in this process, warm, on an embedded store with a few articles. It passes Python files of the
  product, and functions in them; a move is a call that follows one in another file. Other threads are not seen.
- A test patches a private name if it replaces an attribute with a leading underscore, or one of such an attribute.
"""

import ast
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlencode

from tests.source import PRODUCT, ROOT, modules
from tests.test_floors import upward_in_repository

PROGRAM = (*PRODUCT, "manage")
SMALL = 25
WARM = 3
"""Requests of a kind before the one that counts."""

Row = tuple[str, object]


def product() -> Iterator[Row]:
    """Yield the rows about the product's files."""
    python = [
        path for name, path in modules().items() if name.split(".")[0] in PROGRAM and ".migrations" not in name
    ]
    scripts = [script for package in PRODUCT for script in (ROOT / package).rglob("*.lua")]
    yield "product lines: Python; Lua", f"{_lines(python):,}; {_lines(scripts):,}"
    yield "product files: Python; Lua", f"{len(python)}; {len(scripts)}"
    chapters = [path for path in python if path.stem not in ("__init__", "__main__", "manage")]
    chapters = [path for path in chapters if path.parent.name != "commands"]
    yield (
        f"modules of ≤ {SMALL} lines; with one function",
        (f"{sum(_lines([path]) <= SMALL for path in chapters)}; {sum(map(_is_single, chapters))}"),
    )
    yield "upward imports in articles/repository/", len(upward_in_repository())


def _lines(paths: list[Path]) -> int:
    return sum(path.read_text("utf-8").count("\n") for path in paths)


def _is_single(path: Path) -> bool:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    defined = [one for one in ast.parse(path.read_text("utf-8")).body if isinstance(one, kinds)]
    return len(defined) == 1 and not isinstance(defined[0], ast.ClassDef)


def tests() -> Iterator[Row]:
    """Yield the rows about the tests."""
    paths = [*(ROOT / "tests").rglob("*.py")]
    texts = [path.read_text("utf-8") for path in paths]
    calls = [node for text in texts for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    patches = [
        one for one in calls if isinstance(one.func, ast.Attribute) and one.func.attr in ("setattr", "delattr")
    ]
    yield "lines of tests", f"{_lines(paths):,}"
    yield (
        "`monkeypatch` in tests; patches of private names",
        (f"{sum(text.count('monkeypatch') for text in texts)}; {sum(map(_is_private, patches))}"),
    )


def _is_private(call: ast.Call) -> bool:
    return any(re.search(r"(?:^['\"]|\.)_[a-z]", ast.unparse(argument)) for argument in call.args[:2])


def requests() -> Iterator[Row]:
    """Yield the rows about requests, of a member who posts, votes and comments on a new site."""
    import django

    django.setup()
    from django.core.management import call_command
    from django.test import Client

    from voting_site.embedded import open_store
    from voting_site.serving.static_files import gather

    with open_store(Path(os.environ["DATA_DIR"])):
        gather()
        call_command("migrate", verbosity=0)
        from accounts.models import User
        from articles.web import wiring

        poster, member = (User.objects.create_user(name, password="a long password") for name in ("alice", "bob"))
        repository = wiring.repository()
        repository.groups.create("python", "Python")
        ids = [
            repository.articles.post(poster.pk, "alice", f"Title {n}", f"https://a.example/{n}", ["python"]).id
            for n in range(WARM + 1)
        ]
        for article_id in ids:
            repository.comments.post(article_id, poster.pk, "alice", "A comment")
        browser = Client(headers={"host": "localhost"})
        browser.force_login(member)

        def send(path: str, **fields: str) -> Any:
            return browser.post(path, urlencode(fields), "application/x-www-form-urlencoded")

        def vote(n: int) -> Any:
            return send(f"/articles/{ids[n]}/vote/", choice="vote", next="/")

        def comment(n: int) -> Any:
            return send(f"/articles/{ids[n]}/comments/", text=f"A comment, number {n}")

        kinds: dict[str, Callable[[int], Any]] = {
            "a vote": vote,
            "a member's front page": lambda _: browser.get("/"),
            "a member's article page": lambda n: browser.get(f"/articles/{ids[n]}/"),
            "a comment posted": comment,
        }
        for name, ask in kinds.items():
            yield f"{name}: files; functions; moves", _passed(ask)


def _passed(ask: Callable[[int], Any]) -> str:
    """Return how many files and functions a warm request passes, and its moves between files."""
    for n in range(WARM):
        ask(n)
    calls: list[tuple[str, int]] = []
    ours = tuple(str(ROOT / package) for package in PRODUCT)

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(ours):
            calls.append((frame.f_code.co_filename, frame.f_code.co_firstlineno))

    sys.setprofile(note)
    try:
        answer = ask(WARM)
    finally:
        sys.setprofile(None)
    assert answer.status_code in (200, 302), answer
    files = [file for file, _ in calls]
    return f"{len(set(files))}; {len(set(calls))}; {sum(one != other for one, other in pairwise(files))}"


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        os.environ |= {"DATA_DIR": folder, "DJANGO_SETTINGS_MODULE": "bench.lib.settings", "LOG_LEVEL": "ERROR"}
        for rows in (product, requests, tests):
            for name, value in rows():
                print(f"| {name} | {value} |", flush=True)


if __name__ == "__main__":
    main()
