"""Fixtures of the core's tests that those of titles need."""

from tests.site.conftest import demo_data, empty_data, start

__all__ = ["demo_data", "empty_data", "start"]
