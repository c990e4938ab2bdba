"""Commands, and files for them to import."""

import gzip
import json
from collections.abc import Callable, Iterable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from articles.management.commands import import_articles
from articles.repository import Repository
from articles.web import wiring

Run = Callable[..., str]


@pytest.fixture
def site_store(site_store: Repository) -> Repository:
    """The repository that commands use, with long timeouts for batches, on an empty store."""
    return wiring.patient_repository()


@pytest.fixture
def run(site_store) -> Run:
    """A function that runs a command and returns its output."""

    def run(*command: Any, **options: Any) -> str:
        out = StringIO()
        call_command(*map(str, command), stdout=out, **options)
        return out.getvalue()

    return run


@pytest.fixture
def write(tmp_path) -> Callable[..., Path]:
    """A function that writes rows, as objects or raw lines, to a file and returns its path."""

    def write(rows: Iterable[dict[str, Any] | bytes], name: str = "articles.jsonl") -> Path:
        lines = (row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows)
        content = b"\n".join(lines) + b"\n"
        path = tmp_path / name
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


@pytest.fixture
def small_batches(monkeypatch):
    """Import a few rows at a time."""
    monkeypatch.setattr(import_articles, "BATCH", 3)
