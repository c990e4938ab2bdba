"""Commands, and files for them to import."""

import gzip
import json
from collections.abc import Callable, Iterable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from articles import wiring
from articles.repository import Repository

Run = Callable[..., str]


@pytest.fixture
def site_store(site_store: Repository) -> Repository:
    """The repository of commands, which wait for long batches, on an empty store."""
    return wiring.patient_repository()


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
