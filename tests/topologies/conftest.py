"""The servers that this machine has."""

from pathlib import Path

import pytest

from tests.topologies import binaries


@pytest.fixture(params=["redis", "valkey"])
def binary(request: pytest.FixtureRequest) -> Path:
    """Return the binary of each server; skip the test where Redis is not installed."""
    path = binaries.redis() if request.param == "redis" else binaries.valkey()
    if path is None:
        pytest.skip(binaries.REDIS_MISSING)
    return path
