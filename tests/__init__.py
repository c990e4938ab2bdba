"""The tests. Helper modules explain a failing assertion as test modules do."""

from pathlib import Path

import pytest

_ENTRIES = sorted(Path(__file__).parent.glob("[!_.]*"))

pytest.register_assert_rewrite(*(f"tests.{entry.stem}" for entry in _ENTRIES if entry.suffix in {"", ".py"}))
