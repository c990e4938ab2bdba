"""The site's own store, emptied, and files to import into it."""

import gzip
import json
from collections.abc import Callable, Iterable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command

from articles import wiring
from articles.repository import Repository
from articles.repository.store.client import make_client

Run = Callable[..., str]

_WIRED = (wiring.repository, wiring.patient_repository)


@pytest.fixture
def site_store(store_paths, db) -> Iterator[Repository]:
    """The repository of the site, on its own store, which is empty."""
    make_client(settings.STORE_URL).flushdb()
    for wired in _WIRED:
        wired.cache_clear()
    yield wiring.patient_repository()
    for wired in _WIRED:
        wired.cache_clear()


@pytest.fixture
def run(site_store) -> Run:
    """Runs a command and returns what it printed."""

    def run(*command: Any, **options: Any) -> str:
        out = StringIO()
        call_command(*map(str, command), stdout=out, **options)
        return out.getvalue()

    return run


@pytest.fixture
def write(tmp_path) -> Callable[..., Path]:
    """Writes rows, as objects or as raw lines, to a file and returns its path."""

    def write(rows: Iterable[dict[str, Any] | bytes], name: str = "articles.jsonl") -> Path:
        lines = (row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows)
        content = b"\n".join(lines) + b"\n"
        path = tmp_path / name
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


def row(number: int = 1, **changes: Any) -> dict[str, Any]:
    """A row that can be imported; None takes a field away."""
    fields = {
        "title": f"Article {number}",
        "link": f"https://example.org/{number}",
        "poster": f"poster{number % 3}",
        "time": 1_700_000_000 + 60 * number,
        "votes": number,
        "comments": 0,
        "groups": ["python"],
    }
    return {name: value for name, value in (fields | changes).items() if value is not None}


def contents(repository: Repository) -> list[tuple[Any, ...]]:
    """What an export and an import keep of all articles, in the order of time."""
    found = [
        (a.posted_at, a.link, a.title, a.poster_name, a.votes, a.opposes, a.groups, a.removed)
        for a in repository.imports.iterate()
    ]
    return sorted(found)
