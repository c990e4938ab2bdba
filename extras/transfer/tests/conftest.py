"""Commands, and files for them to import."""

import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from extras.transfer import importing
from tests.commands.conftest import manage, run, site_store  # noqa: F401 - fixtures
from tests.site.conftest import empty_data, filled_data, start  # noqa: F401 - fixtures


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
    monkeypatch.setattr(importing, "BATCH", 3)
